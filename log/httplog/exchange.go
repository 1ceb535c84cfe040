package httplog

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/weirhq/weir/log"
)

const (
	eventReceived  = "http request received"
	eventCompleted = "http request completed"
)

// An exchange is a request and its response. It is not pooled: a handler that
// writes after it has returned, which is not allowed, would write into the
// response of another request.
type exchange struct {
	writer
	logger   *log.Logger   // has the trace id
	request  *http.Request // passed to the handler
	http     log.HTTP
	keep     *Keep // nil: hold is not used
	hold     log.Hold
	returned bool // the handler returned and did not panic
}

// receive creates the handler's request. It logs the start of the request if announced is true.
func (x *exchange) receive(logger *log.Logger, r *http.Request, announced bool) {
	began := time.Now()
	id := traceID(r.Header)
	with := logger.With().TraceID(id).Context(r.Context())
	if x.keep != nil {
		with.Hold(&x.hold)
	}
	x.logger = with.Logger()
	if fromContext := x.logger.TraceID(); fromContext != "" {
		id = fromContext
	}
	x.request = r.WithContext(log.Into(&traceContext{r.Context(), id}, x.logger))

	x.http = log.HTTP{StartedAt: began}
	describeTarget(&x.http, r)
	if announced {
		x.logger.Info(eventReceived).At(began).HTTP(&x.http).Send()
	}
	describeCaller(&x.http, r)
}

// complete logs the end of the request. r is the request that the middleware got.
// It is deferred because a handler may panic. It panics again with the same value.
func (x *exchange) complete(r *http.Request) {
	value := recover()
	ended := time.Now()
	// net/http removes the temporary files of the form in its own request, but the handler has parsed the form in a
	// copy. Without a new form r is not written, because a caller other than net/http may share it among goroutines.
	if form := x.request.MultipartForm; form != r.MultipartForm {
		r.MultipartForm = form
	}
	x.http.EndedAt, x.http.Duration = ended, ended.Sub(x.http.StartedAt)
	x.http.ResponseContentLength = x.bytes
	x.http.Route = x.request.Pattern
	x.outcome(value).log(x)
	if value != nil {
		panic(value)
	}
}

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

// log writes the completed event, and before it the held ones if there are any to write.
func (o outcome) log(x *exchange) {
	x.http.StatusCode = x.status
	if x.status == 0 {
		x.http.StatusCode = o.status
	}
	missing := 0
	if x.keep != nil {
		missing = x.keep.end(x, o)
	}
	e := x.logger.Log(o.level, eventCompleted).Hold(nil).At(x.http.EndedAt).HTTP(&x.http)
	if o.failure != "" {
		e.Str("failure", o.failure).Bool("cut", x.status != 0)
	}
	if x.hijacked {
		e.Bool("hijacked", true)
	}
	if missing > 0 {
		e.Int("discarded", missing)
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
