// Package httplog logs the requests that a net/http server answers, and gives
// its handlers a logger that knows the request.
//
//	server := &http.Server{Handler: httplog.Middleware(logger, httplog.Options{})(mux)}
//
// For each request there are two events, "http request received" and
// "http request completed", or the second alone; see [Options]. Both have its
// trace id, and so has what a handler logs:
//
//	log.From(r.Context()).Info("looking up dataset").Str("id", id).Send()
//	slog.InfoContext(r.Context(), "looking up dataset", "id", id) // with slog.SetDefault(slog.New(logger.Handler()))
//
// It belongs outside of everything else that wraps handlers, since it measures
// only the handlers inside. The exception is a middleware that starts a span of
// OpenTelemetry, such as otelhttp: with package log/otellog, httplog has the ids
// of the span only inside of it.
//
// # What the completed event says
//
// http.status_code is what the handler wrote, or 200 where it left that to
// net/http; http.response_content_length is the bytes of the body that it
// wrote, none for HEAD; http.route is the pattern that http.ServeMux or a
// router.Router left in the request, which middleware that copies the request
// on the way to it hides. Of what net/http sends after the handler has
// returned, which is how most short answers leave, nothing is known any more.
//
// A request that did not end well has data.failure, and data.cut, which is true
// when the answer had begun:
//
//   - "panic": severity error, with the stack of the panic, which goes on; the
//     status is 500 when nothing had been written.
//   - "goexit": the same for a handler that ended its goroutine.
//   - "aborted": severity warn; the handler panicked with http.ErrAbortHandler,
//     which goes on. The status is 0 when nothing had been written.
//   - "client_gone": severity warn; the client left, or was cut off, before the
//     handler returned. The status is 499 when nothing had been written.
//
// Of a connection that a handler hijacked, the event, written when the handler
// returns, has data.hijacked. The status is the one that was given to
// WriteHeader, 101 mostly, and 0 when the handler wrote its own bytes instead.
//
// Headers are not logged, but for User-Agent and Referer. What is secret in a
// query is left out by log.Options.Redact.
//
// The received event has method, scheme, host, port, path, query and
// started_at; the others stand in the completed one alone.
//
// # What meets here
//
// A logger with log.Sampling thins out these events like any other, by their
// two names: of a busy service most requests go unlogged, and one event of a
// request may be there without the other. For all requests and fewer of the
// handlers' events, give Middleware a logger without it, and let a handler
// within put a sampled one into the context.
//
// A panic goes on to net/http, which reports it a second time, to the server's
// ErrorLog.
package httplog
