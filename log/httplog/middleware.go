package httplog

import (
	"net/http"
	"time"

	"github.com/weirhq/weir/log"
)

// Options are the settings of [Middleware]. The zero value is ready for use.
type Options struct {
	Events Events // of each request; zero is both
}

// Events chooses the events that a request makes.
type Events int

const (
	// EventsAll is "http request received" and "http request completed".
	EventsAll Events = iota

	// EventsCompleted is the second alone, which says what the first does.
	EventsCompleted
)

const (
	eventReceived  = "http request received"
	eventCompleted = "http request completed"
)

// Middleware returns a function that makes a handler log its requests to the
// logger, at info unless they end badly; the package comment says how. Handlers
// find the logger, with the request's trace id, by [log.From], and the trace id
// itself by [TraceID].
//
// The ResponseWriter that the handler is given is good until it returns, as
// net/http has it, and has those optional interfaces that the one beneath has,
// no more: http.Flusher, http.Hijacker, http.Pusher, http.CloseNotifier and
// io.ReaderFrom, so that files are still sent by the kernel, and all that
// http.ResponseController does. What net/http asks its own writer alone is lost
// with any that wraps it: http.MaxBytesReader cannot have the connection closed,
// which is left to net/http's own limit on bodies that nobody has read.
func Middleware(logger *log.Logger, o Options) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return &handler{logger: logger, options: o, next: next}
	}
}

type handler struct {
	logger  *log.Logger
	options Options
	next    http.Handler
}

// An exchange is a request and what becomes of it. It is not pooled: a handler
// that writes after it has returned, which no handler may, would write into the
// answer of another's.
type exchange struct {
	writer
	logger   *log.Logger   // knows the trace id
	request  *http.Request // the handler's
	http     log.HTTP
	returned bool // the handler did, rather than panic
}

// ServeHTTP logs the request before and after the next handler serves it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{writer: writer{inner: w, isHead: r.Method == http.MethodHead}}
	x.receive(h, r)
	defer x.complete()
	h.next.ServeHTTP(faces[abilitiesOf(w)](&x.writer), x.request)
	x.returned = true
}

// receive logs that the request came in, and makes the handler's request.
func (x *exchange) receive(h *handler, r *http.Request) {
	began := time.Now()
	id := traceID(r.Header)
	x.logger = h.logger.With().TraceID(id).Context(r.Context()).Logger()
	if fromContext := x.logger.TraceID(); fromContext != "" {
		id = fromContext
	}
	x.request = r.WithContext(log.Into(&traceContext{r.Context(), id}, x.logger))

	x.http = log.HTTP{StartedAt: began}
	describeTarget(&x.http, r)
	if h.options.Events == EventsAll {
		x.logger.Info(eventReceived).At(began).HTTP(&x.http).Send()
	}
	describeCaller(&x.http, r)
}

// complete logs what became of the request. It is deferred, since a handler may
// panic; the panic goes on afterwards.
func (x *exchange) complete() {
	value := recover()
	ended := time.Now()
	x.http.EndedAt, x.http.Duration = ended, ended.Sub(x.http.StartedAt)
	x.http.ResponseContentLength = x.bytes
	x.http.Route = x.request.Pattern
	x.outcome(value).log(x)
	if value != nil {
		panic(value)
	}
}
