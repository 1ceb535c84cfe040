package service

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Service is a program that runs. Its methods may be called at once, but Stop
// by one alone, and nothing after it but Ended.
type Service struct {
	cmd       *exec.Cmd
	sinks     []*Sink // one or two
	limitMark limitMark
	family    *family
	group     *group // nil without a limit of memory

	started chan error
	ended   chan struct{}
}

// Start starts a program. What it starts is ended by Stop, which has to be
// called; should this process be killed before, the kernel kills the program,
// though not its children.
func Start(spec Spec) (*Service, error) {
	s := &Service{started: make(chan error), ended: make(chan struct{})}
	var err error
	if s.cmd, err = spec.command(); err != nil {
		return nil, err
	}
	if err := adopt(); err != nil {
		return nil, err
	}
	if err := s.start(spec); err != nil {
		s.discard()
		release()
		return nil, err
	}
	return s, nil
}

// command makes what exec wants to know, but for the sinks.
func (spec Spec) command() (*exec.Cmd, error) {
	if len(spec.Command) == 0 {
		return nil, errors.New("start a service: there is no command")
	}
	cmd := exec.Command(spec.Command[0], spec.Command[1:]...)
	if cmd.Err != nil {
		return nil, fmt.Errorf("start the service %q: %w", spec.Command[0], cmd.Err)
	}
	cmd.Env = slices.Clone(spec.Env)
	if spec.Dir != "" {
		dir, err := filepath.Abs(spec.Dir)
		if err != nil {
			return nil, fmt.Errorf("start the service in %s: %w", spec.Dir, err)
		}
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "PWD="+dir) // else it had this process's
	}
	if spec.Mark != "" {
		cmd.Env = append(cmd.Env, spec.Mark)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	return cmd, limitFiles(cmd, spec.Files)
}

// start connects the sinks, and starts.
func (s *Service) start(spec Spec) error {
	ends, err := s.connect(spec)
	defer func() {
		for _, end := range ends {
			end.Close()
		}
	}()
	if err != nil {
		return err
	}
	if spec.Memory > 0 {
		if s.group, err = newGroup(spec.Memory); err != nil {
			return err
		}
		if err := s.group.enter(s.cmd); err != nil {
			return err
		}
	}
	go s.run(spec.CPUs)
	if err := <-s.started; err != nil {
		return fmt.Errorf("start the service %q: %w", strings.Join(spec.Command, " "), err)
	}
	s.family = newFamily(s.cmd.Process.Pid, spec.Mark, s.limitMark)
	return nil
}

// connect opens the sinks, and returns the ends that are to be closed once the
// program has them.
func (s *Service) connect(spec Spec) (ends []*os.File, err error) {
	out, stderr := spec.Stdout, spec.Stderr
	if out == nil {
		out = Null()
	}
	open := func(sink *Sink) *os.File {
		end, e := sink.open()
		if e != nil {
			err = fmt.Errorf("connect the service's output: %w", e)
			return nil
		}
		s.sinks, ends = append(s.sinks, sink), append(ends, end)
		return end
	}
	one := open(out)
	if err != nil {
		return ends, err
	}
	s.cmd.Stdout, s.cmd.Stderr = one, one
	other := one
	if stderr != nil {
		if other = open(stderr); err != nil {
			return ends, err
		}
		s.cmd.Stderr = other
	}
	s.control(out, stderr)
	return ends, nil
}

// control gives the program a terminal to be controlled by, if one of its
// outputs is one.
func (s *Service) control(out, stderr *Sink) {
	const stdoutFD, stderrFD = 1, 2
	attr := s.cmd.SysProcAttr
	switch {
	case out.kind == terminal:
		attr.Setctty, attr.Ctty = true, stdoutFD
	case stderr != nil && stderr.kind == terminal:
		attr.Setctty, attr.Ctty = true, stderrFD
	}
}

// run starts the program and waits for it on one thread: the kernel kills the
// program when the thread that has started it ends.
func (s *Service) run(cpus int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	free, err := pinCPUs(cpus)
	if err == nil {
		s.limitMark, err = startMarked(s.cmd.Start)
		free()
	}
	s.started <- err
	if err == nil {
		s.cmd.Wait() // its ProcessState says the same
		close(s.ended)
	}
}

// discard forgets what was opened for a program that was not started.
func (s *Service) discard() {
	for _, sink := range s.sinks {
		sink.finish()
		sink.close()
	}
	if s.group != nil {
		s.group.remove()
	}
}

// Check tells, by an error, what of the limits this process cannot set.
func (l Limits) Check() error {
	if err := checkFiles(l.Files); err != nil {
		return err
	}
	if _, err := ownCPUs(l.CPUs); err != nil {
		return err
	}
	if l.Memory == 0 {
		return nil
	}
	g, err := newGroup(l.Memory)
	if err != nil {
		return err
	}
	return g.remove()
}

// PID is the program's process.
func (s *Service) PID() int { return s.cmd.Process.Pid }

// Ended is closed when the program has ended, though children of it may live.
func (s *Service) Ended() <-chan struct{} { return s.ended }

// Count says how much was written so far, at the cost of a system call or two.
func (s *Service) Count() (sum Count) {
	for _, sink := range s.sinks {
		sum = sum.add(sink.Count())
	}
	return sum
}

// CPU is what reading the outputs has cost this process so far.
func (s *Service) CPU() (sum time.Duration) {
	for _, sink := range s.sinks {
		sum += sink.cpu()
	}
	return sum
}

// Lines counts the lines so far; a file is read for it.
func (s *Service) Lines() (lines int64) {
	for _, sink := range s.sinks {
		lines += sink.Lines()
	}
	return lines
}

// Hold has the readers of pipes stop from a time until another one, or until
// the program has ended.
func (s *Service) Hold(from, until time.Time) {
	for _, sink := range s.sinks {
		sink.hold(from, until)
	}
}
