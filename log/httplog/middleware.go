package httplog

import (
	"net/http"

	"github.com/weirhq/weir/log"
)

// Options are the settings of [Middleware]. The zero value is ready for use.
type Options struct {
	Events Events // events written per request; the zero value writes both
	Keep   *Keep  // writes all events of some requests only; nil writes those of all
}

// Events selects the events that are written for a request.
type Events int

const (
	// EventsAll is "http request received" and "http request completed".
	EventsAll Events = iota

	// EventsCompleted is "http request completed" only. It has every field of
	// the received event.
	EventsCompleted
)

// Middleware returns a function that wraps a handler so that its requests are
// logged to logger, at info unless they fail; the package comment has the
// details. Handlers get the logger with the request's trace id from [log.From],
// and the trace id itself from [TraceID].
//
// A handler may use its ResponseWriter until it returns, as in net/http. The
// ResponseWriter has the optional interfaces of the ResponseWriter that net/http made
// for HTTP/1 (http.Flusher, http.Hijacker, http.CloseNotifier and io.ReaderFrom, so
// that the kernel still sends files) or for HTTP/2 (http.Flusher, http.Pusher and
// http.CloseNotifier). If other middleware has wrapped that one and hides some of these
// interfaces, the handler gets http.Flusher, and http.Hijacker too if both are left. It
// reaches the other methods with http.ResponseController.
//
// net/http checks for its own type in some places, and any wrapper disables
// these: http.MaxBytesReader cannot close the connection, and net/http's limit
// on unread bodies closes it instead.
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

// ServeHTTP logs the request before and after the next handler serves it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{writer: writer{inner: w, isHead: r.Method == http.MethodHead}}
	if keep := h.options.Keep; keep != nil {
		x.keep = keep
		x.hold.Bytes, x.hold.Counts = keep.Bytes, &keep.Counts
	}
	x.receive(h.logger, r, h.options.Events == EventsAll)
	defer x.complete(r)
	h.next.ServeHTTP(x.forHandler(), x.request)
	x.returned = true
}
