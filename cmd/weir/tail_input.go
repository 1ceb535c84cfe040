package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/follow"
)

const (
	// pollEvery is how often files that are followed are looked at.
	pollEvery = 100 * time.Millisecond

	// readSize is how much is read at once.
	readSize = 256 << 10

	// maxHeld is how many lines of a pipe are held to show the last of them.
	maxHeld = 100_000
)

// An input is one of the things to read.
type input struct {
	name     string
	file     *os.File     // read to its end; nil before a named pipe is opened
	followed *follow.File // or read for ever
	lines    follow.Lines
	last     *lastLines // of a pipe, when only those are wanted
	skipped  int        // lines of a pipe that are still to be left out
}

// inputs opens what there is to read. Of several files, those that cannot be
// read are told to say, and the others are read.
func (c *tailCmd) inputs(say func(error)) ([]*input, error) {
	names := c.Files
	if len(names) == 0 {
		names = []string{"-"}
	}
	var all []*input
	for _, name := range names {
		in, err := c.input(name)
		switch {
		case err == nil:
			all = append(all, in)
		case len(names) == 1:
			return nil, fileProblem(name, err)
		default:
			say(fileProblem(name, err))
		}
	}
	return all, nil
}

func (c *tailCmd) input(name string) (*input, error) {
	in := &input{name: name}
	if name == "-" {
		in.name, in.file = "standard input", os.Stdin
		return in, in.skip(c.start())
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s %w", name, errDirectory)
	case c.Follow:
		in.followed, err = follow.Open(name, c.start())
		return in, err
	case info.Mode()&os.ModeNamedPipe != 0:
		in.await(c.start())
		return in, nil
	}
	if in.file, err = os.Open(name); err != nil {
		return nil, err
	}
	return in, in.skip(c.start())
}

var errDirectory = errors.New("is a directory")

// await prepares to leave out lines of a pipe as they come.
func (in *input) await(start follow.Start) {
	if start.FromEnd {
		in.last = &lastLines{n: start.Lines}
		return
	}
	in.skipped = start.Lines
}

// skip goes to where reading starts, or prepares to find it in a pipe.
func (in *input) skip(start follow.Start) error {
	if start == (follow.Start{}) {
		return nil
	}
	info, err := in.file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		in.await(start)
		return nil
	}
	offset, err := start.Offset(in.file, info.Size())
	if err == nil {
		_, err = in.file.Seek(offset, io.SeekStart)
	}
	return err
}

func closeInputs(all []*input) {
	for _, in := range all {
		switch {
		case in.followed != nil:
			in.followed.Close()
		case in.file != nil && in.file != os.Stdin:
			in.file.Close()
		}
	}
}

// leavesFirstInterrupt reports whether another program writes what is read, so
// that it gets to end first.
func leavesFirstInterrupt(all []*input) bool {
	for _, in := range all {
		if in.file == os.Stdin && !cli.IsTerminal(os.Stdin) {
			return true
		}
	}
	return false
}

// A part is what was read at once.
type part struct {
	from  *input
	data  []byte // the reader's, once taken is closed
	end   bool   // what comes after it is another file
	err   error  // why there is no more
	taken chan struct{}
}

// read reads the inputs in a goroutine of its own, so that signals are heard
// while a pipe is silent. It ends with ctx, unless it is in the middle of
// opening or reading a pipe: then it ends with the process, as nothing can wake
// it.
func read(ctx context.Context, all []*input) <-chan *part {
	r := &reader{ctx: ctx, parts: make(chan *part), buf: make([]byte, readSize)}
	go func() {
		defer close(r.parts)
		if all[0].followed != nil {
			r.follow(all)
			return
		}
		for _, in := range all {
			if !r.drain(in) {
				return
			}
		}
	}()
	return r.parts
}

type reader struct {
	ctx   context.Context
	parts chan *part
	buf   []byte
}

// send hands a part on and waits until it is done with; it reports false when
// nobody takes any more.
func (r *reader) send(p *part) bool {
	p.taken = make(chan struct{})
	select {
	case r.parts <- p:
	case <-r.ctx.Done():
		return false
	}
	select {
	case <-p.taken:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// drain reads an input to its end.
func (r *reader) drain(in *input) bool {
	file := in.file
	if file == nil {
		pipe, err := os.Open(in.name)
		if err != nil {
			r.send(&part{from: in, end: true, err: err})
			return false
		}
		defer pipe.Close()
		file = pipe
	}
	for {
		n, err := file.Read(r.buf)
		if n > 0 && !r.send(&part{from: in, data: r.buf[:n]}) {
			return false
		}
		switch {
		case err == io.EOF:
			return r.send(&part{from: in, end: true})
		case err != nil:
			r.send(&part{from: in, end: true, err: err})
			return false
		}
	}
}

// follow reads files until nobody takes any more.
func (r *reader) follow(all []*input) {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		idle := true
		for _, in := range all {
			n, err := in.followed.Read(r.buf)
			if err == io.EOF {
				continue
			}
			idle = false
			p := &part{from: in, data: r.buf[:n], end: err != nil}
			if !errors.Is(err, follow.ErrSwitched) {
				p.err = err
			}
			if !r.send(p) || p.err != nil {
				return
			}
		}
		if !idle {
			continue
		}
		select {
		case <-poll.C:
		case <-r.ctx.Done():
			return
		}
	}
}

// lastLines holds the last n lines of a stream.
type lastLines struct {
	n     int
	lines []heldLine
	next  int // to be replaced, once there are n
}

type heldLine struct {
	text  []byte
	whole bool
}

func (l *lastLines) add(line []byte, whole bool) {
	switch {
	case l.n == 0:
	case len(l.lines) < l.n:
		l.lines = append(l.lines, heldLine{append([]byte(nil), line...), whole})
	default:
		held := &l.lines[l.next]
		held.text, held.whole = append(held.text[:0], line...), whole
		l.next = (l.next + 1) % l.n
	}
}

// each hands on the lines, oldest first.
func (l *lastLines) each(do func(line []byte, whole bool) error) error {
	for i := range l.lines {
		held := l.lines[(l.next+i)%len(l.lines)]
		if err := do(held.text, held.whole); err != nil {
			return err
		}
	}
	return nil
}
