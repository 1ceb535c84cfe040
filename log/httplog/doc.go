// Package httplog logs the requests that a net/http server responds, and gives
// its handlers a logger with the request's trace id.
//
//	server := &http.Server{Handler: httplog.Middleware(logger, httplog.Options{})(mux)}
//
// Each request has two events, "http request received" and "http request
// completed", or only the second; see [Options]. Both have the request's trace
// id. So do the handlers' own events:
//
//	log.From(r.Context()).Info("looking up dataset").Str("id", id).Send()
//	slog.InfoContext(r.Context(), "looking up dataset", "id", id) // with slog.SetDefault(slog.New(logger.Handler()))
//
// The middleware should be outside of all other middleware, because it measures
// only the handlers inside it. The exception is a middleware that starts an
// OpenTelemetry span, such as otelhttp: with package log/otellog, httplog must
// be inside it to see the ids of the span.
//
// # The completed event
//
// http.status_code is the status that the handler wrote, or 200 if it wrote
// none. http.response_content_length is the number of body bytes that it wrote,
// 0 for HEAD. http.route is the pattern that http.ServeMux or a router.Router
// stored in the request. The route is missing if middleware in between copies
// the request. Most short responses are sent by net/http after the handler has
// returned; errors of that write are not recorded.
//
// A request that failed has data.failure, and data.cut, which is true if the
// response had begun:
//
//   - "panic": severity error, with the stack of the panic, which continues;
//     the status is 500 if nothing had been written.
//   - "goexit": the same for a handler that ended its goroutine.
//   - "aborted": severity warn; the handler panicked with http.ErrAbortHandler,
//     and the panic continues. The status is 0 if nothing had been written.
//   - "client_gone": severity warn; the client disconnected, or was
//     disconnected, before the handler returned. The status is 499 if nothing
//     had been written.
//
// If a handler hijacks the connection, the event is written when the handler
// returns and has data.hijacked. The status is the one passed to WriteHeader,
// usually 101, or 0 if the handler wrote its own bytes instead.
//
// Of the headers, only User-Agent and Referer are logged. log.Options.Redact
// removes secrets from the query.
//
// The received event has method, scheme, host, port, path, query and
// started_at. The other fields are only in the completed event.
//
// # Requests worth their events
//
// With a [Keep], the events of a request are written only if it failed, was slow or is in a share. All other requests
// have one event, "http request completed". If there were too many events to hold, data.discarded of this event is the
// number of missing ones.
//
// # Sampling and panics
//
// A logger with log.Sampling samples these two events by name, like any others:
// in a busy service most requests have no event, and some have only one of the
// two. To log every request but sample the handlers' events, give Middleware a
// logger without Sampling, and put a logger with Sampling into the context in a
// handler inside it.
//
// A panic continues to net/http, which reports it again, to the server's
// ErrorLog.
package httplog
