package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/process"
	"golang.org/x/sys/unix"
)

const (
	strayWithin  = time.Second     // for processes outside the group, after the group has ended
	killWithin   = 5 * time.Second // for the kernel to end killed processes
	cancelWithin = 2 * time.Second // for the whole stop, after ctx is done
)

// reapTime limits the wait for the program after SIGKILL. A busy machine takes
// more than a second to end a process with many connections.
const reapTime = 10 * time.Second

// Stop sends SIGTERM to the program and to its children that are still in its group. It
// waits for up to within for all to end, and kills the rest. Processes that have left
// the group are killed one second after the group has ended. Once ctx is done, Stop
// waits for at most two more seconds.
func (s *Service) Stop(ctx context.Context, within time.Duration) Ending {
	defer release()
	ending := s.end(ctx, within)
	if s.group != nil {
		s.group.kill()
		ending.OutOfMemory = s.group.outOfMemory()
	}
	select {
	case <-s.ended:
		ending.Exit = s.cmd.ProcessState.String()
		ending.Failed = failed(s.cmd.ProcessState.Sys().(syscall.WaitStatus))
	case <-time.After(reapTime): // the kernel has not ended it
		ending.Exit, ending.Failed = "still running", true
	}
	for _, sink := range s.sinks {
		sink.finish()
		ending.Tail = append(ending.Tail, sink.Tail()...)
		ending.Full = ending.Full || sink.file != nil && isFull(sink.file)
	}
	ending.Written, ending.Lines = s.Count(), s.Lines()
	s.discard()
	return ending
}

// failed reports whether a program ended otherwise than with success or by
// SIGTERM. Some programs convert SIGTERM to an exit status as shells do.
func failed(status syscall.WaitStatus) bool {
	const terminated = 128 + int(syscall.SIGTERM)
	return status.Signal() != syscall.SIGTERM && status.ExitStatus() != 0 && status.ExitStatus() != terminated
}

// EndMarked kills all processes of this user that have an environment variable
// beginning with the given text, and returns their names. They were left by a
// process that was killed.
func EndMarked(beginning string) (killed []string, err error) {
	all, err := process.ReadStats()
	if err != nil {
		return nil, err
	}
	for _, stat := range all {
		p := proc{stat}
		env, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.PID), "environ"))
		if err != nil || p.Ended() || p.PID == os.Getpid() || !strings.HasPrefix(string(env), beginning) &&
			!strings.Contains(string(env), "\x00"+beginning) {
			continue
		}
		if err := p.signal(syscall.SIGKILL); err != nil {
			return killed, err
		}
		killed = append(killed, p.String())
	}
	return killed, nil
}

// isFull reports whether the file system of f is nearly full.
func isFull(f *os.File) bool {
	const hardly = 64 << 10
	var disk unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &disk) == nil && disk.Blocks > 0 && disk.Bavail*uint64(disk.Bsize) < hardly
}

// end ends the tree.
func (s *Service) end(ctx context.Context, within time.Duration) (e Ending) {
	living, _ := s.tree.look()
	if !slices.ContainsFunc(living, func(p proc) bool { return p.PID == s.tree.root }) {
		e.Outlived = named(living)
	}
	s.terminate(living)
	e.Left = named(s.await(ctx, time.Now().Add(within)))
	e.Alive = named(s.killAll())
	return e
}

func named(all []proc) (names []string) {
	for _, p := range all {
		names = append(names, p.String())
	}
	slices.Sort(names)
	return names
}

// terminate sends SIGTERM to the process group of the program.
func (s *Service) terminate(living []proc) {
	if slices.ContainsFunc(living, s.inGroup) {
		syscall.Kill(-s.tree.root, syscall.SIGTERM)
	}
}

func (s *Service) inGroup(p proc) bool { return p.Group == s.tree.root }

// await returns the members that are still running at the deadline. When ctx
// ends, a deadline later than cancelWithin from then is moved to that time.
func (s *Service) await(ctx context.Context, deadline time.Time) []proc {
	groupEnded := false
	hurry := ctx.Done()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		living, err := s.tree.look()
		if err != nil || len(living) == 0 {
			return nil // without /proc, no process was found at all
		}
		if !groupEnded && !slices.ContainsFunc(living, s.inGroup) {
			groupEnded = true
			deadline = atMost(deadline, strayWithin)
		}
		if !time.Now().Before(deadline) {
			return living
		}
		select {
		case <-hurry:
			hurry = nil
			deadline = atMost(deadline, cancelWithin)
		case <-time.After(min(pause, time.Until(deadline))):
		}
	}
}

// atMost returns the earlier of deadline and the time d from now.
func atMost(deadline time.Time, d time.Duration) time.Time {
	if soon := time.Now().Add(d); soon.Before(deadline) {
		return soon
	}
	return deadline
}

// killAll kills all running members. It returns those that are still running
// after killWithin.
func (s *Service) killAll() []proc {
	deadline := time.Now().Add(killWithin)
	for {
		living, err := s.tree.look()
		if err != nil || len(living) == 0 || time.Now().After(deadline) {
			return living
		}
		for _, p := range living {
			p.signal(syscall.SIGKILL) // if this fails, the process is in the result
		}
		time.Sleep(time.Millisecond)
	}
}
