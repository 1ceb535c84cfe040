package httplog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/log"
)

// statusClientGone is what nginx logs for a client that left before it was
// answered. It is never sent.
const statusClientGone = 499

// An outcome is how a request ended.
type outcome struct {
	level   log.Level
	failure string // empty: well
	status  int    // where the handler has written none
	err     error
}

// outcome tells how the request ended; value is what the handler panicked with.
func (x *exchange) outcome(value any) outcome {
	switch {
	case value == http.ErrAbortHandler && !x.clientGone():
		return outcome{level: log.LevelWarn, failure: "aborted"}
	case value != nil && value != http.ErrAbortHandler:
		return outcome{log.LevelError, "panic", http.StatusInternalServerError, newPanicError(value)}
	case value == nil && !x.returned:
		return outcome{log.LevelError, "goexit", http.StatusInternalServerError, errGoexit}
	case x.hijacked:
		return outcome{level: log.LevelInfo}
	case x.clientGone():
		return outcome{log.LevelWarn, "client_gone", statusClientGone, x.err}
	}
	return outcome{level: log.LevelInfo, status: http.StatusOK}
}

var errGoexit = errors.New("the handler ended its goroutine (runtime.Goexit)")

// log writes the completed event.
func (o outcome) log(x *exchange) {
	x.http.StatusCode = x.status
	if x.status == 0 {
		x.http.StatusCode = o.status
	}
	e := x.logger.Log(o.level, eventCompleted).At(x.http.EndedAt).HTTP(&x.http)
	if o.failure != "" {
		e.Str("failure", o.failure).Bool("cut", x.status != 0)
	}
	if x.hijacked {
		e.Bool("hijacked", true)
	}
	e.Err(o.err).Send()
}

// clientGone tells whether the client left before the answer was whole.
// net/http cancels the request's context then, and when a write has failed.
func (x *exchange) clientGone() bool {
	return !x.hijacked && errors.Is(x.request.Context().Err(), context.Canceled) && !x.whole()
}

// whole tells whether the handler has written all that it had announced: who
// has got that may leave, even before the handler returns.
func (x *exchange) whole() bool {
	length, err := strconv.ParseInt(x.inner.Header().Get("Content-Length"), 10, 64)
	return err == nil && x.err == nil && x.status != 0 && x.bytes == length
}

// A panicError is what a handler panicked with, and where.
type panicError struct {
	value any
	pcs   []uintptr
}

// newPanicError notes the stack of the panic that is being recovered from.
func newPanicError(value any) *panicError {
	pcs := make([]uintptr, 64)
	pcs = pcs[:runtime.Callers(1, pcs)]
	from := 1 + slices.IndexFunc(pcs, func(pc uintptr) bool { return function(pc) == "runtime.gopanic" })
	for from < len(pcs) && strings.HasPrefix(function(pcs[from]), "runtime.") {
		from++ // what makes a panic of a nil pointer or an index out of range
	}
	return &panicError{value, pcs[from:]}
}

// function names the function that a return address points into.
func function(pc uintptr) string { return runtime.FuncForPC(pc - 1).Name() }

func (e *panicError) Error() string { return fmt.Sprint(e.value) }

// Callers implements log.Stacker.
func (e *panicError) Callers() []uintptr { return e.pcs }

var _ log.Stacker = (*panicError)(nil)
