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

// statusClientGone is nginx's status for a client that disconnected before the
// response. It is never sent.
const statusClientGone = 499

// An outcome is the result of a request.
type outcome struct {
	level   log.Level
	failure string // empty: no failure
	status  int    // logged if the handler wrote none
	err     error
}

// outcome returns the result of the request; value is the value of the
// handler's panic, or nil.
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

// clientGone reports whether the client disconnected before the response was
// complete. net/http cancels the request's context in that case, and when a
// write has failed.
func (x *exchange) clientGone() bool {
	return !x.hijacked && errors.Is(x.request.Context().Err(), context.Canceled) && !x.whole()
}

// whole reports whether the handler has written as many bytes as Content-Length
// announced. A client that has received these may disconnect before the handler
// returns.
func (x *exchange) whole() bool {
	length, err := strconv.ParseInt(x.inner.Header().Get("Content-Length"), 10, 64)
	return err == nil && x.err == nil && x.status != 0 && x.bytes == length
}

// A panicError is the value of a panic and its stack.
type panicError struct {
	value any
	pcs   []uintptr
}

// newPanicError records the stack of the panic that is being recovered.
func newPanicError(value any) *panicError {
	pcs := make([]uintptr, 64)
	pcs = pcs[:runtime.Callers(1, pcs)]
	from := 1 + slices.IndexFunc(pcs, func(pc uintptr) bool { return function(pc) == "runtime.gopanic" })
	for from < len(pcs) && strings.HasPrefix(function(pcs[from]), "runtime.") {
		from++ // runtime functions between the panic and its cause, such as a nil pointer
	}
	return &panicError{value, pcs[from:]}
}

// function returns the name of the function that contains the return address.
func function(pc uintptr) string { return runtime.FuncForPC(pc - 1).Name() }

func (e *panicError) Error() string { return fmt.Sprint(e.value) }

// Callers implements log.Stacker.
func (e *panicError) Callers() []uintptr { return e.pcs }

var _ log.Stacker = (*panicError)(nil)
