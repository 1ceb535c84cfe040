package service

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// limitFiles makes a command start with a limit of open files. Setting it after
// the start may be too late, because Go raises its own limit when it starts. A
// shell therefore sets it and then executes the program.
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
		return fmt.Errorf("limit the service to %d open files: this process itself may have %d; raise that by "+
			"`ulimit -Hn %[1]d`, as root", files, own.Max)
	}
	return nil
}

// viaShell makes a shell run a script that executes the command. $0 is the
// program; $@ are the known arguments for the script and then the program's.
func viaShell(cmd *exec.Cmd, script string, known ...string) error {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return fmt.Errorf("limit the service, which needs a shell: %w", err)
	}
	cmd.Args = slices.Concat([]string{"sh", "-c", script, cmd.Path}, known, cmd.Args[1:])
	cmd.Path = shell
	return nil
}

// pinCPUs restricts the calling thread and the programs that it starts to the
// last CPUs until free is called. The caller must have called
// runtime.LockOSThread.
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
			runtime.LockOSThread() // without a matching unlock, so that the thread ends with its goroutine
		}
	}, nil
}

// ownCPUs returns the CPUs that the calling thread may use. It is an error if
// there are fewer than least.
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
