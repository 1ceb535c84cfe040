package tail

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/follow"
	"github.com/weirhq/weir/log/natssink"
)

const (
	// pollEvery is the interval at which followed files are checked.
	pollEvery = 100 * time.Millisecond

	// readSize is the size of a read in bytes.
	readSize = 256 << 10
)

// An input is a file, a pipe or a subject of NATS.
type input struct {
	name     string
	file     *os.File     // is read to its end; nil for a named pipe that is not open yet
	followed *follow.File // instead of file, with --follow
	subject  *subject     // instead of both, for a subject
	packed   bool         // the file is compressed by gzip
	lines    follow.Lines
	last     *lastLines // of a pipe, if only those are shown
	skipped  int        // lines of a pipe that are still to be skipped
	failed   bool       // whether a read failed, which was reported
}

// inputs describes the inputs of a command line.
type inputs struct {
	names  []string // none is standard input
	start  follow.Start
	since  time.Time // of a subject: instead of start, unless zero
	follow bool
	warn   func(string) // called by any goroutine
}

// open opens the inputs. If there are several, it calls report for each that
// cannot be opened, and returns the others.
func (o *inputs) open(report func(error)) ([]*input, error) {
	names := o.names
	if len(names) == 0 {
		names = []string{"-"}
	}
	if isSubject(names[0]) { // the only one
		in, err := o.subject(names[0])
		return []*input{in}, err
	}
	var all []*input
	for _, name := range names {
		in, err := o.file(name)
		switch {
		case err == nil:
			all = append(all, in)
		case len(names) == 1:
			return nil, fileError(name, err)
		default:
			report(fileError(name, err))
		}
	}
	return all, nil
}

// subject opens a subject of NATS.
func (o *inputs) subject(url string) (*input, error) {
	s := &subject{start: o.start, since: o.since, follow: o.follow, warn: o.warn}
	if err := openSubject(url, s); err != nil {
		return nil, err
	}
	in := &input{name: s.name, subject: s}
	in.skipMessages()
	return in, nil
}

// file opens a file or a pipe.
func (o *inputs) file(name string) (*input, error) {
	in := &input{name: name, packed: isPacked(name)}
	if name == "-" {
		in.name, in.file = "standard input", os.Stdin
		return in, in.skip(o.start)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s %w", name, errDirectory)
	case o.follow:
		if in.followed, err = follow.Open(name, o.start); err != nil {
			return nil, err
		}
		in.followed.Warn = func(err error) { o.warn(named(name, err).Error() + "; trying again") }
		return in, nil
	case info.Mode()&os.ModeNamedPipe != 0:
		in.skipAsRead(o.start)
		return in, nil
	}
	if in.file, err = os.Open(name); err != nil {
		return nil, err
	}
	return in, in.skip(o.start)
}

var errDirectory = errors.New("is a directory")

// fileError returns the error for a file that cannot be read, with a hint.
func fileError(name string, err error) error {
	hint := "weir tail FILE, or a program that writes events | weir tail"
	switch {
	case strings.Contains(name, "://"):
		hint = "the URL of a subject is nats://host:4222/subject, or tls:// with TLS"
	case errors.Is(err, fs.ErrNotExist):
		hint = "the file must exist when weir tail starts, with --follow too"
	case errors.Is(err, errDirectory):
		hint = "name the files in it, as in weir tail " + filepath.Join(name, "*.log")
	case errors.Is(err, follow.ErrNotRegular):
		hint = "--follow needs a regular file; without --follow, weir tail reads a pipe until it ends"
	}
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		err = named(of.Path, err)
	}
	return cli.Misuse(err, hint)
}

// named returns the error of an input with its name, and without that of the system call, which users do not need.
func named(name string, err error) error {
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// isPacked reports whether a file has the name of one that is compressed by gzip, as rotated files often are.
func isPacked(name string) bool { return strings.HasSuffix(name, ".gz") }

// rewind prepares to read inputs again.
func rewind(all []*input, start follow.Start) error {
	for _, in := range all {
		if err := in.rewind(start); err != nil {
			return cli.Misuse(fmt.Errorf("--window reads its inputs twice, and %s cannot be read twice", in.name),
				"write it to a file before")
		}
	}
	return nil
}

func (in *input) rewind(start follow.Start) error {
	in.last, in.skipped = nil, 0
	switch {
	case in.subject != nil:
		in.skipMessages()
		return nil
	case in.file == nil:
		return errors.ErrUnsupported
	}
	if _, err := in.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return in.skip(start)
}

// skipMessages prepares to skip the first lines of a subject. The last ones are chosen where it is read.
func (in *input) skipMessages() {
	in.subject.seen = natssink.Seen{}
	if !in.subject.start.FromEnd {
		in.skipped = in.subject.start.Lines
	}
}

// skipAsRead prepares to skip the first lines of a pipe when they are read.
func (in *input) skipAsRead(start follow.Start) {
	if start.FromEnd {
		in.last = &lastLines{n: start.Lines}
		return
	}
	in.skipped = start.Lines
}

// skip moves to the place from which a file is read, or prepares to find it in a
// pipe.
func (in *input) skip(start follow.Start) error {
	if start == (follow.Start{}) {
		return nil
	}
	info, err := in.file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular(), in.packed:
		in.skipAsRead(start)
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
		case in.subject != nil:
			in.subject.conn.Close()
		case in.followed != nil:
			in.followed.Close()
		case in.file != nil && in.file != os.Stdin:
			in.file.Close()
		}
	}
}

// ignoresFirstInterrupt reports whether another program writes to stdin, so that
// it can end first.
func ignoresFirstInterrupt(all []*input) bool {
	for _, in := range all {
		if in.file == os.Stdin && !cli.IsTerminal(os.Stdin) {
			return true
		}
	}
	return false
}

// A part is the result of one read.
type part struct {
	from  *input
	data  []byte        // belongs to the reader again after taken is closed
	end   bool          // whether the file ends with it
	err   error         // the error that ended reading
	taken chan struct{} // closed by the receiver
}

// read reads the inputs in another goroutine, so that signals are handled while
// a pipe is silent. The goroutine ends with ctx. If it is opening or reading a
// pipe then, it ends with the process, because nothing can wake it.
func read(ctx context.Context, all []*input) <-chan *part {
	r := &reader{ctx: ctx, parts: make(chan *part), buf: make([]byte, readSize)}
	go func() {
		defer close(r.parts)
		switch {
		case all[0].subject != nil:
			r.subject(all[0])
			return
		case all[0].followed != nil:
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

// send sends a part and waits until the receiver has used it. It reports false
// when ctx has ended.
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

// subject sends the lines of a subject.
func (r *reader) subject(in *input) {
	err := in.subject.read(r.ctx, func(lines []byte) bool { return r.send(&part{from: in, data: lines}) })
	if r.ctx.Err() == nil {
		r.send(&part{from: in, end: true, err: err})
	}
}

// drain reads an input to its end. It reports whether to continue with the next, also after an error.
func (r *reader) drain(in *input) bool {
	err := r.data(in)
	if err != nil {
		err = named(in.name, err)
	}
	return r.ctx.Err() == nil && r.send(&part{from: in, end: true, err: err})
}

// data sends the data of an input, until it or ctx ends.
func (r *reader) data(in *input) error {
	file := in.file
	if file == nil {
		pipe, err := os.Open(in.name)
		if err != nil {
			return err
		}
		defer pipe.Close()
		file = pipe
	}
	data := io.Reader(file)
	if in.packed {
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		data = unpacked
	}
	for {
		n, err := data.Read(r.buf)
		if n > 0 && !r.send(&part{from: in, data: r.buf[:n]}) || err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// follow reads files until ctx ends.
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
