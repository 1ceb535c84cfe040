package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/weirhq/weir/lab/internal/halves"
	"github.com/weirhq/weir/lab/internal/service"
	"github.com/weirhq/weir/lab/results"
)

// A duet makes the two runs of a block at the same time, on halves of the processors, so that a disturbance of the
// machine affects both. Each half has a process of its own for the load and the rest of a run, because the threads of this
// process cannot be bound to the processors of one run.
type duet [2]*player

// A player is the process of a half; see [ServeHalf].
type player struct {
	half   halves.Half
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	to     *json.Encoder
	from   *json.Decoder
	stderr bytes.Buffer
}

// checkDuet returns an error if the experiment cannot be played as a duet.
func (s *session) checkDuet() error {
	both, err := halves.Divide()
	switch {
	case err != nil:
		return fmt.Errorf("a duet: %w", err)
	case len(s.cases) != 2 || s.options.Until == nil || s.options.Resume || len(s.experiment.Profiles) > 0:
		return errors.New("a duet has two configurations, Until, and neither profiles nor earlier runs")
	}
	for _, c := range s.cases {
		if c.Service.Running() {
			return errors.New("a duet starts its services: they cannot run already")
		}
		if n := c.Service.Limits.CPUs; n > len(both[0]) {
			return fmt.Errorf("service.limits.cpus: %d processors are too many for a duet, whose halves have %d", n, len(both[0]))
		}
		if !usesPort(c.Service) {
			return errors.New("a duet has two services at the same time: give the command ${port}, a port of its own for each")
		}
	}
	return nil
}

// startDuet starts the processes of both halves. The caller must call end.
func (s *session) startDuet() (*duet, error) {
	both, err := halves.Divide()
	if err != nil {
		return nil, err
	}
	e := *s.experiment
	e.Repeats = 0 // there may be more than in a file
	d := new(duet)
	for i, half := range both {
		if d[i], err = startPlayer(half, s.options.Duet); err == nil {
			err = d[i].to.Encode(part{Source: string(e.Source()), Folder: e.Folder, Dir: s.store.dir,
				Weir: s.options.Weir, Repo: s.options.Repo})
		}
		if err != nil {
			d.end()
			return nil, fmt.Errorf("start the half %v of a duet: %w", half, err)
		}
	}
	return d, nil
}

func startPlayer(half halves.Half, command []string) (*player, error) {
	p := &player{half: half, cmd: exec.Command(command[0], command[1:]...)}
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for this process, which ends the player
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := half.Start(p.cmd); err != nil {
		return nil, err
	}
	p.in, p.out, p.to, p.from = in, out, json.NewEncoder(in), json.NewDecoder(out)
	return p, nil
}

// end returns when both processes have ended, with their services.
func (d *duet) end() {
	for _, p := range d {
		if p != nil {
			p.in.Close()
		}
	}
	for _, p := range d {
		if p != nil {
			io.Copy(io.Discard, p.out) // it may be sending a run
			p.cmd.Wait()               // its state is that of an interrupted program
		}
	}
}

// makeTogether makes the runs of a block at the same time. The first one is on the first half, so that the order of the
// block decides which configuration has which half.
func (s *session) makeTogether(ctx context.Context, d *duet, block []Turn) error {
	s.reporter.change(func(p *Progress) {
		p.Step, p.Run, p.Of, p.Configuration, p.Repeat = Starting, block[0].Number, len(s.turns),
			s.cases[block[0].Case].Name+" and "+s.cases[block[1].Case].Name, block[0].Repeat
	})
	runs, err := s.play(ctx, d, block)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		for _, t := range block {
			service.EndMarked(s.mark(strconv.Itoa(t.Number))) // of a half that was killed; the error is that of play
		}
		return err
	}
	for _, r := range runs {
		if err := s.keep(r); err != nil {
			return err
		}
	}
	return nil
}

// play makes the runs of a block. Both loads begin when both services have been warmed up. When ctx is done, it ends the
// duet.
func (s *session) play(ctx context.Context, d *duet, block []Turn) (runs []results.Run, err error) {
	stop := context.AfterFunc(ctx, func() {
		for _, p := range d {
			p.in.Close()
		}
	})
	defer stop()
	for i, p := range d {
		p.to.Encode(order{Turn: &block[i]}) // an error is that of its news, too
	}
	var first [2]news
	for i, p := range d {
		if first[i], err = p.hear(); err != nil {
			return nil, err
		}
	}
	s.reporter.step(Loading)
	for i, p := range d {
		if first[i].Run == nil {
			p.to.Encode(order{})
		}
	}
	for i, p := range d {
		n := first[i]
		if n.Run == nil {
			if n, err = p.hear(); err != nil {
				return nil, err
			}
		}
		if n.Run == nil {
			return nil, fmt.Errorf("the half %v of a duet has sent no run", p.half)
		}
		runs = append(runs, *n.Run)
	}
	return runs, nil
}

// hear waits for the next message of a player.
func (p *player) hear() (n news, err error) {
	if err = p.from.Decode(&n); err == nil {
		return n, nil
	}
	p.in.Close()
	io.Copy(io.Discard, p.out)
	if ended := p.cmd.Wait(); ended != nil {
		err = ended
	}
	return n, fmt.Errorf("the half %v of a duet has ended: %w: %s", p.half, err, bytes.TrimSpace(p.stderr.Bytes()))
}
