package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/lab/experiment"
)

// build runs the experiment's commands, unless they ran before an interruption.
// Runs of two builds would not compare.
func (s *session) build(ctx context.Context) error {
	done := s.store.path(buildDir, builtFile)
	if len(s.experiment.Build) == 0 {
		return nil
	}
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := os.MkdirAll(s.store.path(buildDir), 0o777); err != nil {
		return err
	}
	for _, command := range s.experiment.Build {
		words, err := command.Expand(s.names())
		if err != nil {
			return fmt.Errorf("build: %w", err)
		}
		if err := s.buildOne(ctx, words); err != nil {
			return err
		}
	}
	return os.WriteFile(done, nil, 0o666)
}

func (s *session) buildOne(ctx context.Context, words experiment.Command) error {
	if len(words) == 0 {
		return errors.New("build: a command is empty")
	}
	line := strings.Join(words, " ")
	s.reporter.change(func(p *Progress) { p.Step, p.Line = Building, line })
	lines := lineWriter{each: func(line string) {
		s.reporter.change(func(p *Progress) { p.Line = line })
	}}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = s.experiment.Folder
	cmd.Env = append(os.Environ(), s.mark("build")) // close finds the processes that it leaves running by this
	cmd.Stdout, cmd.Stderr = &lines, &lines
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for processes that keep its output open
	err := cmd.Run()
	lines.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("build by `%s`: %w%s", line, err, lines.quoted())
	}
	return nil
}

// A lineWriter calls each with every line, and keeps the last lines.
type lineWriter struct {
	each func(line string)
	rest []byte
	last []string
}

const (
	maxLines = 20
	longLine = 4 << 10
)

func (w *lineWriter) Write(text []byte) (int, error) {
	w.rest = append(w.rest, text...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte{'\n'})
		if !ok && len(w.rest) < longLine {
			return len(text), nil
		}
		w.put(string(line))
		w.rest = rest
	}
}

func (w *lineWriter) put(line string) {
	line = strings.TrimRight(line, "\r")
	w.last = append(w.last, line)
	w.last = w.last[max(0, len(w.last)-maxLines):]
	w.each(line)
}

// end takes a last line without a line break.
func (w *lineWriter) end() {
	if len(w.rest) > 0 {
		w.put(string(w.rest))
		w.rest = nil
	}
}

// quoted returns the last lines, each on a line of its own.
func (w *lineWriter) quoted() string {
	if len(w.last) == 0 {
		return ""
	}
	return "; it says:\n  " + strings.Join(w.last, "\n  ")
}
