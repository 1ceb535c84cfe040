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

// A Service is a running program. Its methods may be called concurrently, but
// Stop only once, and afterwards only Ended.
type Service struct {
	cmd       *exec.Cmd
	sinks     []*Sink // one or two
	limitMark limitMark
	tree      *tree
	group     *group // nil without a memory limit

	started chan error
	ended   chan struct{}
}

// Start starts a program. The caller must call Stop, which also ends all
// descendants. If this process is killed before that, the kernel kills the
// program but not its children.
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

// command prepares the command except for its outputs.
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
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "PWD="+dir) // otherwise it would be that of this process
	}
	if spec.Mark != "" {
		cmd.Env = append(cmd.Env, spec.Mark)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	return cmd, limitFiles(cmd, spec.Files)
}

// start opens the sinks and starts the program.
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
	s.tree = newTree(s.cmd.Process.Pid, spec.Mark, s.limitMark)
	return nil
}

// connect opens the sinks. It returns the ends to close once the program has
// inherited them.
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

// control makes an output that is a terminal the controlling terminal of the
// program.
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

// run starts the program and waits for it on one thread, because the kernel
// kills the program when the thread that started it ends.
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
		s.cmd.Wait() // ProcessState contains the error
		close(s.ended)
	}
}

// discard releases the resources of a program.
func (s *Service) discard() {
	for _, sink := range s.sinks {
		sink.finish()
		sink.close()
	}
	if s.group != nil {
		s.group.remove()
	}
}

// Check returns an error if this process cannot set the limits.
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

// PID returns the PID of the program.
func (s *Service) PID() int { return s.cmd.Process.Pid }

// Ended returns a channel that is closed when the program has ended. Its
// children may still run.
func (s *Service) Ended() <-chan struct{} { return s.ended }

// Count returns the amount of output so far. It takes one or two system calls.
func (s *Service) Count() (sum Count) {
	for _, sink := range s.sinks {
		sum = sum.add(sink.Count())
	}
	return sum
}

// CPU returns the CPU time that this process has used to read the output.
func (s *Service) CPU() (sum time.Duration) {
	for _, sink := range s.sinks {
		sum += sink.cpu()
	}
	return sum
}

// Lines returns the number of lines so far. It reads the output if that is a
// file.
func (s *Service) Lines() (lines int64) {
	for _, sink := range s.sinks {
		lines += sink.Lines()
	}
	return lines
}

// Hold suspends the readers of pipes from one time until another, or until the
// program has ended.
func (s *Service) Hold(from, until time.Time) {
	for _, sink := range s.sinks {
		sink.hold(from, until)
	}
}
