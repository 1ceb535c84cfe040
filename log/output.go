package log

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// An EventWriter is an io.Writer that wants to know how much a line matters,
// so that it can drop the lesser ones first. A [Logger] calls WriteEvent
// instead of Write, from many goroutines at once.
//
// The line ends in its newline and belongs to the writer only until WriteEvent
// returns. What it returns is as with io.Writer: an error, and fewer bytes than
// the line has, are told to [Options.OnError].
//
// One that writes events of its own has a method UseOptions(Options), or an
// Unwrap() io.Writer that returns a writer with that method. [New] calls it with
// the options of the Logger, so that all events in a log look alike.
//
// It is an io.Writer too, so that [New] and others take it. Write gets lines
// that have no level; the sinks of package sink take them as LevelInfo.
type EventWriter interface {
	io.Writer
	WriteEvent(level Level, line []byte) (int, error)
}

// An output is where the lines of one New go, and how they are written; loggers
// derived from it share it.
type output struct {
	encoder       encoder
	notation      notation // the encoder's
	front         int      // the length of the encoder's
	redact        *redactor
	sampling      *Sampling
	maxEventBytes int
	onError       func(error)                  // may be nil
	context       func(context.Context, Event) // may be nil

	events EventWriter // nil unless the writer is one
	writer io.Writer
	mu     *sync.Mutex // held during a Write; nil for writers that may be called at once
}

// An optionsUser is a writer that writes events of its own.
type optionsUser interface{ UseOptions(Options) }

func newOutput(w io.Writer, o Options) *output {
	out := &output{
		encoder:       newEncoder(o.Format, w),
		redact:        newRedactor(o.Redact),
		sampling:      o.Sampling,
		maxEventBytes: o.MaxEventBytes,
		onError:       o.OnError,
		context:       o.Context,
		writer:        w,
	}
	out.notation, out.front = out.encoder.notation(), len(out.encoder.front())
	out.events, _ = w.(EventWriter)
	if !writesAreWhole(w) {
		out.mu = new(sync.Mutex)
	}
	return out
}

// writesAreWhole reports whether calls of Write at once do not mix: package
// net and os say so, and io.Discard has nothing to mix.
func writesAreWhole(w io.Writer) bool {
	switch w.(type) {
	case *os.File, *net.TCPConn, *net.UnixConn:
		return true
	}
	return w == io.Discard
}

// keeps reports whether an event is to be written, as far as sampling goes.
func (o *output) keeps(level Level, event string) bool {
	return o.sampling == nil || o.sampling.keep(level, event)
}

// write hands the writer one line, and what went wrong to onError.
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
