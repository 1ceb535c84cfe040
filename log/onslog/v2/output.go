package log

import (
	"io"
	"os"
	"strconv"
	"sync"
)

// An output writes the events of one package: to a destination, or to a fallback
// if the destination rejects a line. Several goroutines may use it at the same
// time.
type output struct {
	human  bool // indented JSON, set by HUMAN_LOG
	colour bool

	mu             sync.Mutex // held while a line is written; guards the fields below
	dest, fallback target
	lost           int // lines lost since the last event "log lines lost"
}

// newOutput returns an output to standard output, with standard error as the
// fallback. The environment variable HUMAN_LOG selects the format.
func newOutput() *output {
	human, _ := strconv.ParseBool(os.Getenv("HUMAN_LOG"))
	return &output{
		human:    human,
		colour:   wantsColour(os.Stdout),
		dest:     target{w: os.Stdout},
		fallback: target{w: os.Stderr},
	}
}

// setDestination replaces the two writers; nil leaves a writer in place. It waits
// for a line that is being written.
func (o *output) setDestination(dest, fallback io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if dest != nil {
		o.dest = target{w: dest}
	}
	if fallback != nil {
		o.fallback = target{w: fallback}
	}
}

// writeEntry encodes e and writes it. It returns false, and writes nothing, if e has a
// value that the encoder cannot write; the caller must then try encoding/json.
func (o *output) writeEntry(e *entry) bool {
	enc := encoders.Get().(*encoder)
	line := o.encode(enc, e)
	if line != nil {
		o.line(line, e.Namespace)
	}
	enc.free()
	return line != nil
}

// encode returns the line for e with a leading newline, or nil if e has a value
// that the encoder cannot write. The line is valid until enc is used again.
func (o *output) encode(enc *encoder, e *entry) []byte {
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

// writeJSON writes an encoded event. namespace is used for the event "log lines
// lost". The only error is that of parsing the event for the HUMAN_LOG format.
func (o *output) writeJSON(namespace string, event []byte) error {
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

// line writes a line, which starts with an extra newline. A line that both
// writers reject is lost. An event with the number of lost lines follows the next
// line that is written.
func (o *output) line(p []byte, namespace string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.write(p) {
		o.lost++
	} else if o.lost > 0 {
		o.tellLost(namespace)
	}
}

// tellLost writes the event "log lines lost". If the event is rejected, tellLost
// tries again after the next line. The caller must hold mu.
func (o *output) tellLost(namespace string) {
	e := newEntry(namespace, "log lines lost", []option{severity(2), Data{"lines": o.lost}})
	enc := encoders.Get().(*encoder)
	if line := o.encode(enc, &e); line != nil && o.write(line) {
		o.lost = 0
	}
	enc.free()
}

// write writes a line with one Write per target and reports whether a target
// accepted it. The caller must hold mu.
func (o *output) write(p []byte) bool { return o.dest.write(p) || o.fallback.write(p) }

// A target is a writer that records whether its last line is incomplete.
type target struct {
	w    io.Writer
	torn bool // the last write ended inside a line
}

// write writes p, which starts with an extra newline, and reports whether all of
// p was written. If the previous line is incomplete, the newline ends the
// fragment, so that the new line is not joined to it; otherwise it is left out.
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
