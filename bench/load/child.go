package load

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Processors returns one CPU for the generators and one for the server.
func Processors() (generator, server int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, 0, os.NewSyscallError("sched_getaffinity", err)
	}
	var all []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	if len(all) < 2 {
		return 0, 0, fmt.Errorf("generator and server need a processor each, and this process may use %d", len(all))
	}
	return all[0], all[1], nil
}

// startOn starts cmd so that it and its children run on one CPU. If this process is killed, the kernel kills cmd.
func startOn(cmd *exec.Cmd, cpu int) (err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // a child inherits the affinity of the thread that forks it
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return os.NewSyscallError("sched_setaffinity", err)
	}
	defer func() {
		if e := unix.SchedSetaffinity(0, &before); err == nil {
			err = os.NewSyscallError("sched_setaffinity", e)
		}
	}()
	return cmd.Start()
}

// A usage holds the resources and the output of a program.
type usage struct {
	cpu    time.Duration // user and system
	memory []int64       // resident bytes, every sampleEvery
	output []byte
}

const sampleEvery = 100 * time.Millisecond

// runOn runs a program on one CPU until it ends. A failing program is an error.
func runOn(ctx context.Context, cpu int, args []string) (usage, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	if err := startOn(cmd, cpu); err != nil {
		return usage{}, err
	}
	ended := make(chan struct{})
	sampled := make(chan []int64)
	go func() { sampled <- sampleMemory(cmd.Process.Pid, ended) }()
	err := cmd.Wait()
	close(ended)
	u := usage{memory: <-sampled, output: out.Bytes()}
	if err != nil {
		text := append(said.Bytes(), u.output...)
		return u, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, text[max(0, len(text)-500):])
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, nil
}

// sampleMemory samples the resident memory of the process. ru_maxrss cannot be used, because it starts with the value
// of this process.
func sampleMemory(pid int, ended <-chan struct{}) (samples []int64) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return samples
		case <-tick.C:
		}
		statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		if err != nil {
			continue // the process has just ended
		}
		if fields := strings.Fields(string(statm)); len(fields) > 1 {
			if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil && pages > 0 {
				samples = append(samples, pages*int64(os.Getpagesize()))
			}
		}
	}
}
