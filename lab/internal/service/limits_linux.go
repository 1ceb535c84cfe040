package service

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// limitFiles has a command begin with its limit of open files. A limit that
// is set once the program runs may come too late: Go raises its own at the
// start. So a shell sets it, and becomes the program.
func limitFiles(cmd *exec.Cmd, files int) error {
	if files == 0 {
		return nil
	}
	if err := checkFiles(files); err != nil {
		return err
	}
	return viaShell(cmd, "ulimit -n "+strconv.Itoa(files)+` && exec "$0" "$@"`)
}

func checkFiles(files int) error {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	if uint64(files) > own.Max {
		return fmt.Errorf("limit the service to %d open files: this process itself may have %d; raise that by `ulimit -Hn %[1]d`, as root", files, own.Max)
	}
	return nil
}

// through has a shell run a script that becomes the command: $0 is its program,
// and $@ what is to be known to the script, and then its arguments.
func viaShell(cmd *exec.Cmd, script string, known ...string) error {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return fmt.Errorf("limit the service, which takes a shell: %w", err)
	}
	cmd.Args = slices.Concat([]string{"sh", "-c", script, cmd.Path}, known, cmd.Args[1:])
	cmd.Path = shell
	return nil
}

// confine has the calling thread, and what it starts, run on so many CPUs
// alone, the last ones, until free is called. The thread is the goroutine's
// own (runtime.LockOSThread).
func pinCPUs(cpus int) (free func(), err error) {
	if cpus == 0 {
		return func() {}, nil
	}
	all, err := ownCPUs(cpus)
	if err != nil {
		return nil, err
	}
	few := lastOf(all, cpus)
	if err := unix.SchedSetaffinity(0, &few); err != nil {
		return nil, fmt.Errorf("limit the service to %d CPUs: %w", cpus, err)
	}
	return func() {
		if unix.SchedSetaffinity(0, &all) != nil {
			runtime.LockOSThread() // once more than it is unlocked: the thread ends with its goroutine
		}
	}, nil
}

// ownCPUs are those that the calling thread may use, which have to be so many.
func ownCPUs(least int) (all unix.CPUSet, err error) {
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return all, fmt.Errorf("read which CPUs this process may use: %w", err)
	}
	if least > all.Count() {
		return all, fmt.Errorf("limit the service to %d CPUs: this process itself may use %d", least, all.Count())
	}
	return all, nil
}

func lastOf(all unix.CPUSet, n int) (few unix.CPUSet) {
	for i := len(all)*64 - 1; i >= 0 && n > 0; i-- {
		if all.IsSet(i) {
			few.Set(i)
			n--
		}
	}
	return few
}
