package proxy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// A program is a process that runs beside the measurement. The caller of start must call stop.
type program struct {
	name   string
	cmd    *exec.Cmd
	output string        // file with its stderr, and stdout if that is not its log
	ended  chan struct{} // closed when it has ended
}

// command is a program with its arguments.
type command struct {
	args []string
	env  []string // in addition to this process's own

	logsToStdout bool     // can log nowhere else
	stdout       *os.File // if nil, stdout goes to the file with stderr
}

// start starts c in dir, in its own process group: Ctrl-C in a terminal signals only this process, which then ends the
// others in order. If this process is killed, the kernel ends them.
func start(name string, c command, dir string) (*program, error) {
	out, err := os.Create(filepath.Join(dir, name+".output"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &program{name: name, cmd: exec.Command(c.args[0], c.args[1:]...), output: out.Name(),
		ended: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), c.env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if c.stdout != nil {
		p.cmd.Stdout = c.stdout
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // the output contains the reason; here only the end matters
		close(p.ended)
	}()
	return p, nil
}

func (p *program) pid() int { return p.cmd.Process.Pid }

// stop sends SIGTERM to p, and kills its group if it has not ended after a while. It returns when p has ended.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has already ended
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-p.pid(), syscall.SIGKILL)
		<-p.ended
	}
}

// ready waits until p responds correctly to a request of w.
func (p *program) ready(ctx context.Context, origin string, w Work) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := w.try(ctx, origin)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err // not the timeout, which hides the reason
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return fmt.Errorf("%s ended before it answered: %s", p.name, p.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %s", p.name, last, p.lastWords())
		}
	}
}

// lastWords returns the end of p's output.
func (p *program) lastWords() string {
	said, err := os.ReadFile(p.output)
	if err != nil {
		return err.Error()
	}
	return string(said[max(0, len(said)-500):])
}
