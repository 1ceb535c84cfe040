package log

import (
	"fmt"
	"io"
	"sync"
)

// An EventWriter is an io.Writer that wants to know how much a line matters,
// so that it can drop the lesser ones first. A [Logger] calls WriteEvent
// instead of Write where there is one, from many goroutines at once.
//
// The line ends in its newline and belongs to the writer only until WriteEvent
// returns.
type EventWriter interface {
	WriteEvent(level Level, line []byte) (int, error)
}

// An output is where the lines of one New go; loggers derived from it share it.
type output struct {
	events        EventWriter // nil unless the writer is one
	maxEventBytes int
	onError       func(error) // may be nil

	mu     sync.Mutex // held during a Write, since an io.Writer may not expect two at once
	writer io.Writer
}

func newOutput(w io.Writer, maxEventBytes int, onError func(error)) *output {
	events, _ := w.(EventWriter)
	return &output{events: events, writer: w, maxEventBytes: maxEventBytes, onError: onError}
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
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("writer panicked: %v", p)
		}
	}()
	if o.events != nil {
		return o.events.WriteEvent(level, line)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.writer.Write(line)
}
