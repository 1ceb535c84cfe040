package log

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// An EventWriter is an io.Writer that needs the level of each line, for example
// to drop the less important ones first. A [Logger] calls WriteEvent instead of
// Write, concurrently from many goroutines.
//
// The line ends with its newline. The writer must not keep the line after WriteEvent
// has returned. The results are as with io.Writer. An error, or fewer bytes
// than the line has, is reported to [Options.OnError].
//
// A writer that writes events of its own should have a method
// UseOptions(Options), or an Unwrap() io.Writer that returns a writer with that
// method. [New] calls it with the options of the Logger, so that all events of
// a log have the same form.
//
// It is an io.Writer too, so that [New] and other functions accept it. Lines
// passed to Write have no level; the sinks of package sink treat them as
// LevelInfo.
type EventWriter interface {
	io.Writer
	WriteEvent(level Level, line []byte) (int, error)
}

// An output is the destination and the encoding of the lines of one New.
// Loggers derived from it share the output.
type output struct {
	encoder       encoder
	notation      notation // of the encoder
	front         int      // length of the encoder's front
	redact        *redactor
	sampling      *Sampling
	maxEventBytes int
	onError       func(error)                  // may be nil
	context       func(context.Context, Event) // may be nil

	events EventWriter // set if writer is an EventWriter
	writer io.Writer
	mu     *sync.Mutex // held during Write; nil if concurrent calls are safe
}

// sample counts the event if there is sampling, and reports whether it is
// written.
func (o *output) sample(level Level, event string) bool {
	return o.sampling == nil || o.sampling.sample(level, event)
}

// write passes one line to the writer, and an error to onError.
func (o *output) write(level Level, line []byte) {
	n, err := o.deliver(level, line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil && o.onError != nil {
		o.onError(err)
	}
}

func (o *output) deliver(level Level, line []byte) (n int, err error) {
	returned := false
	defer func() {
		if !returned {
			err = fmt.Errorf("writer panicked: %v", recover())
		}
	}()
	switch {
	case o.events != nil:
		n, err = o.events.WriteEvent(level, line)
	case o.mu != nil:
		n, err = o.writeLocked(line)
	default:
		n, err = o.writer.Write(line)
	}
	returned = true
	return n, err
}

func (o *output) writeLocked(line []byte) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.writer.Write(line)
}
