package log

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
)

// traced is an error with the stack of its creation, in the forms that loggers support: as program counters for Weir,
// and as text for %+v for zap and github.com/pkg/errors.
type traced struct {
	text string
	pcs  []uintptr
}

func (e *traced) Error() string { return e.text }

// Callers returns the program counters, innermost first.
func (e *traced) Callers() []uintptr { return e.pcs }

// Format writes the message. For %+v it also writes two lines per frame: the function, and the file with the line
// number.
func (e *traced) Format(s fmt.State, verb rune) {
	io.WriteString(s, e.text)
	if verb != 'v' || !s.Flag('+') {
		return
	}
	for f := range e.frames() {
		io.WriteString(s, "\n")
		io.WriteString(s, f.Function)
		io.WriteString(s, "\n\t")
		io.WriteString(s, f.File)
		io.WriteString(s, ":")
		io.WriteString(s, strconv.Itoa(f.Line))
	}
}

// frames yields the frames of the program counters.
func (e *traced) frames() func(yield func(runtime.Frame) bool) {
	return func(yield func(runtime.Frame) bool) {
		frames := runtime.CallersFrames(e.pcs)
		for {
			f, more := frames.Next()
			if f.PC == 0 || !yield(f) || !more {
				return
			}
		}
	}
}

// failure returns an error with the same eight frames in every call, because it is created in a new goroutine.
func failure() *traced {
	made := make(chan *traced)
	go func() { made <- serve() }()
	return <-made
}

//go:noinline
func serve() *traced { return route() }

//go:noinline
func route() *traced { return render() }

//go:noinline
func render() *traced { return query() }

//go:noinline
func query() *traced { return connect() }

//go:noinline
func connect() *traced { return dial() }

//go:noinline
func dial() *traced {
	var pcs [16]uintptr
	n := runtime.Callers(1, pcs[:])
	return &traced{text: "dial tcp 127.0.0.1:8080: connect: connection refused", pcs: pcs[:n:n]}
}

// stackRows: each peer writes the stack of the error in its documented way. Further rows look up the frames and add
// them field by field, which is faster but not documented by any peer.
func stackRows() []row {
	contenders := []contender{
		byWeir,
		{name: "zerolog", note: "Stack, with a marshaler as its pkgerrors has", open: openZerolog},
		{name: "phuslu/log", note: "fmt's %+v as a string", open: openPhusluMillis},
		{name: "zap", note: "zap.Error, which writes %+v as errorVerbose", open: openZap},
		{name: "onelog", note: "fmt's %+v as a string", open: openOnelog},
		{name: "zerolog", note: "Array, frames by hand", open: openZerologFrames},
		{name: "zap", note: "Array, frames by hand", open: openZapFrames},
	}
	err := failure()
	return by(contenders, func(l logger) func(int, *request) { return repeat(func() { l.failed(err) }) })
}
