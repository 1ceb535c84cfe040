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

	"golang.org/x/sys/unix"
)

const (
	strayWithin  = time.Second     // how long those may live that have left the group, when that one has ended
	killWithin   = 5 * time.Second // how long the kernel may take
	cancelWithin = 2 * time.Second // how long all may take when someone waits for it
)

// reapTime bounds the wait for a process that was sent SIGKILL. A busy machine
// takes over a second to end one that has many connections.
const reapTime = 10 * time.Second

// Stop sends SIGTERM to the program and those of its children that are still in
// its group, waits so long for all to end, and kills who has not. Who has left
// the group and lives on when it has ended is killed after a second. Once ctx
// is done, nobody is waited for longer than two seconds.
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
	case <-time.After(reapTime): // the kernel does not let it go
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

// failed tells whether a program ended neither with success nor by SIGTERM, of
// which some make a status as a shell does.
func failed(status syscall.WaitStatus) bool {
	const terminated = 128 + int(syscall.SIGTERM)
	return status.Signal() != syscall.SIGTERM && status.ExitStatus() != 0 && status.ExitStatus() != terminated
}

// EndMarked kills all processes of this user that were started with a variable
// in their environment whose text begins like this, and names them. They are
// what a process that was killed has left.
func EndMarked(beginning string) (killed []string, err error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		env, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.PID), "environ"))
		if err != nil || p.Ended() || p.PID == os.Getpid() || !strings.HasPrefix(string(env), beginning) && !strings.Contains(string(env), "\x00"+beginning) {
			continue
		}
		if err := p.signal(syscall.SIGKILL); err != nil {
			return killed, err
		}
		killed = append(killed, p.String())
	}
	return killed, nil
}

// isFull tells whether there is hardly any room left where a file is.
func isFull(f *os.File) bool {
	const hardly = 64 << 10
	var disk unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &disk) == nil && disk.Blocks > 0 && disk.Bavail*uint64(disk.Bsize) < hardly
}

// end ends the family.
func (s *Service) end(ctx context.Context, within time.Duration) (e Ending) {
	living, _ := s.family.look()
	if !slices.ContainsFunc(living, func(p proc) bool { return p.PID == s.family.root }) {
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

// terminate sends SIGTERM to the group that the program was made the head of.
func (s *Service) terminate(living []proc) {
	if slices.ContainsFunc(living, s.inGroup) {
		syscall.Kill(-s.family.root, syscall.SIGTERM)
	}
}

func (s *Service) inGroup(p proc) bool { return p.Group == s.family.root }

// await returns who lives when the time is over, which is soon once ctx is done.
func (s *Service) await(ctx context.Context, deadline time.Time) []proc {
	alone := false // the group has ended
	hurry := ctx.Done()
	for rest := time.Millisecond; ; rest = min(2*rest, 50*time.Millisecond) {
		living, err := s.family.look()
		if err != nil || len(living) == 0 {
			return nil // without /proc nobody would have been found
		}
		if !alone && !slices.ContainsFunc(living, s.inGroup) {
			alone = true
			deadline = atMost(deadline, strayWithin)
		}
		if !time.Now().Before(deadline) {
			return living
		}
		select {
		case <-hurry:
			hurry = nil
			deadline = atMost(deadline, cancelWithin)
		case <-time.After(min(rest, time.Until(deadline))):
		}
	}
}

// atMost returns a deadline that is so far away at most.
func atMost(deadline time.Time, d time.Duration) time.Time {
	if soon := time.Now().Add(d); soon.Before(deadline) {
		return soon
	}
	return deadline
}

// killAll kills who lives, and returns who lives even then.
func (s *Service) killAll() []proc {
	deadline := time.Now().Add(killWithin)
	for {
		living, err := s.family.look()
		if err != nil || len(living) == 0 || time.Now().After(deadline) {
			return living
		}
		for _, p := range living {
			p.signal(syscall.SIGKILL) // who may not be killed is in what is returned
		}
		time.Sleep(time.Millisecond)
	}
}
