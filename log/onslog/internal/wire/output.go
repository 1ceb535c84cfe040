package wire

import (
	"io"
	"os"
	"strconv"
	"sync"
)

// An Output is where the events of one package go: a destination, and a
// fallback for lines that the destination did not take. Many goroutines may
// use it at once.
type Output struct {
	human  bool // for people, as HUMAN_LOG asks for
	colour bool

	mu             sync.Mutex // held while a line is written
	dest, fallback target
}

// NewOutput returns one to standard output, with standard error as the
// fallback, in the form that the environment asks for.
func NewOutput() *Output {
	human, _ := strconv.ParseBool(os.Getenv("HUMAN_LOG"))
	return &Output{
		human:    human,
		colour:   wantsColour(os.Stdout),
		dest:     target{w: os.Stdout},
		fallback: target{w: os.Stderr},
	}
}

// SetDestination changes where lines go; nil changes nothing. It waits for a
// line that is being written.
func (o *Output) SetDestination(dest, fallback io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if dest != nil {
		o.dest = target{w: dest}
	}
	if fallback != nil {
		o.fallback = target{w: fallback}
	}
}

// Write encodes e and writes it. It returns false when there is something in e
// that only encoding/json can judge; nothing has been written then.
func (o *Output) Write(e *Event) bool {
	enc := encoders.Get().(*encoder)
	ok := enc.event(e)
	if ok && o.human {
		pretty, err := prettyJSON([]byte{'\n'}, enc.buf[1:], o.colour)
		if ok = err == nil; ok {
			o.line(append(pretty, '\n'))
		}
	} else if ok {
		o.line(enc.buf)
	}
	enc.free()
	return ok
}

// WriteJSON writes an event that is encoded already. The error is that of the
// form for people, which parses it.
func (o *Output) WriteJSON(event []byte) error {
	line := append(make([]byte, 0, len(event)+2), '\n')
	if o.human {
		var err error
		if line, err = prettyJSON(line, event, o.colour); err != nil {
			return err
		}
	} else {
		line = append(line, event...)
	}
	o.line(append(line, '\n'))
	return nil
}

// line writes a line, which has one newline before it, in one Write; see
// target. A process whose log neither of two destinations takes ends, as with
// the original, which panics and exits while it does.
func (o *Output) line(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.dest.write(p) && !o.fallback.write(p) {
		os.Exit(1)
	}
}

// A target is a writer that remembers whether it is within a line.
type target struct {
	w    io.Writer
	torn bool // the last write ended within a line
}

// write writes p, which begins with a newline: that is left out unless the
// writer is within a line, whose fragment it ends, so that no line is glued to
// the fragment of another. It reports whether all of p was taken.
func (t *target) write(p []byte) bool {
	if !t.torn {
		p = p[1:]
	}
	n, err := t.w.Write(p)
	if n > 0 && n <= len(p) {
		t.torn = p[n-1] != '\n'
	}
	return n == len(p) && err == nil
}
