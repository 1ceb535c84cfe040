package log

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
)

// traced is an error that knows where it was made, in the ways that loggers ask for it: as program counters, as Weir
// does, and as text for %+v, as zap and github.com/pkg/errors do.
type traced struct {
	text string
	pcs  []uintptr
}

func (e *traced) Error() string { return e.text }

// Callers returns program counters, innermost first.
func (e *traced) Callers() []uintptr { return e.pcs }

// Format writes the message and, for %+v, a line with the function and one with the file and line of each frame.
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

// frames yields what the program counters stand for.
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

// failure returns an error with the same eight frames wherever it is called from: it is made in a goroutine of its own.
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

// stackRows: each peer writes the stack that the error carries in the way that its documentation has for it. Below
// those stand rows that no documentation has: there the frames are looked up and added field by field, which is faster
// than what is documented.
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
