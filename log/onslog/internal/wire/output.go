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

	mu             sync.Mutex // held while a line is written, guards what follows
	dest, fallback target
	lost           int // lines that neither took, and of which no event has told
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
	line := o.encode(enc, e)
	if line != nil {
		o.line(line, e.Namespace)
	}
	enc.free()
	return line != nil
}

// encode returns the line of e, one newline before it, or nil when there is
// something in e that only encoding/json can judge. It is good until enc is
// used again.
func (o *Output) encode(enc *encoder, e *Event) []byte {
	if !enc.event(e) {
		return nil
	}
	if !o.human {
		return enc.buf
	}
	pretty, err := prettyJSON([]byte{'\n'}, enc.buf[1:], o.colour)
	if err != nil {
		return nil
	}
	return append(pretty, '\n')
}

// WriteJSON writes an event of that namespace that is encoded already. The
// error is that of the form for people, which parses it.
func (o *Output) WriteJSON(namespace string, event []byte) error {
	line := append(make([]byte, 0, len(event)+2), '\n')
	if o.human {
		var err error
		if line, err = prettyJSON(line, event, o.colour); err != nil {
			return err
		}
	} else {
		line = append(line, event...)
	}
	o.line(append(line, '\n'), namespace)
	return nil
}

// line writes a line, which has one newline before it. One that nothing takes
// is lost; the first that is taken afterwards is followed by an event that says
// how many were.
func (o *Output) line(p []byte, namespace string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.write(p) {
		o.lost++
	} else if o.lost > 0 {
		o.tellLost(namespace)
	}
}

// tellLost is called with mu held. Where the event is not taken, the next line
// that is has it told again.
func (o *Output) tellLost(namespace string) {
	e := New(namespace, "log lines lost", []Option{Severity(2), Data{"lines": o.lost}})
	enc := encoders.Get().(*encoder)
	if line := o.encode(enc, &e); line != nil && o.write(line) {
		o.lost = 0
	}
	enc.free()
}

// write writes a line in one Write, see target, and reports whether it was
// taken. It is called with mu held.
func (o *Output) write(p []byte) bool { return o.dest.write(p) || o.fallback.write(p) }

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
