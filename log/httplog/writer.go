package httplog

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
)

// A writer is a ResponseWriter that records the status, the bytes and the first
// error of a response. It has the methods that every ResponseWriter can have;
// forHandler adds the optional ones.
//
// Only one goroutine may use it at a time. Informational responses (1xx) are
// the exception, because httputil.ReverseProxy writes them from another
// goroutine: they change no field.
type writer struct {
	inner    http.ResponseWriter
	isHead   bool  // the method is HEAD: net/http drops the body
	hijacked bool  // later writes go to the connection and are not recorded
	status   int   // 0 until the response begins
	bytes    int64 // of the body
	err      error // the first error of a write
}

// begin records the status if the response has not begun yet.
func (w *writer) begin(status int) {
	if w.status == 0 && !w.hijacked {
		w.status = status
	}
}

// wrote records the result of a write.
func (w *writer) wrote(n int64, err error) {
	if !w.isHead {
		w.bytes += n
	}
	if w.err == nil {
		w.err = err
	}
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.inner.Header() }

// WriteHeader implements http.ResponseWriter. It records the status after the
// call, because net/http panics for an invalid one.
func (w *writer) WriteHeader(status int) {
	w.inner.WriteHeader(status)
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.begin(status)
	}
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	n, err := w.inner.Write(p)
	w.wrote(int64(n), err)
	return n, err
}

// WriteString implements io.StringWriter for every inner writer.
func (w *writer) WriteString(s string) (int, error) {
	w.begin(http.StatusOK)
	n, err := io.WriteString(w.inner, s)
	w.wrote(int64(n), err)
	return n, err
}

// Unwrap returns the inner writer, for http.ResponseController. If other middleware hides Flush or
// Hijack, http.ResponseController finds them here, so that their use is recorded.
func (w *writer) Unwrap() http.ResponseWriter {
	if canHijack(w.inner) {
		return unwrappedHijacker{unwrapped{w}}
	}
	return unwrapped{w}
}

// canHijack reports whether http.ResponseController finds a Hijack in w.
func canHijack(w http.ResponseWriter) bool {
	for {
		switch inner := w.(type) {
		case http.Hijacker:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		default:
			return false
		}
	}
}

// The types that Unwrap returns.
type (
	unwrapped         struct{ *writer }
	unwrappedHijacker struct{ unwrapped }
)

// Unwrap returns the inner writer itself.
func (u unwrapped) Unwrap() http.ResponseWriter { return u.inner }

// FlushError flushes the writer that implements it, if there is one.
func (u unwrapped) FlushError() error {
	err := http.NewResponseController(u.inner).Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		u.begin(http.StatusOK)
		u.wrote(0, err)
	}
	return err
}

// Hijack hijacks the connection of the writer that implements it.
func (u unwrappedHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(u.inner).Hijack()
	u.hijacked = u.hijacked || err == nil
	return conn, buffers, err
}

// A closeNotifier is an http.CloseNotifier. That interface is deprecated, but
// some frameworks, Gin for example, still assert it without checking.
type closeNotifier interface{ CloseNotify() <-chan bool }

// The optional interfaces of the writers that forHandler distinguishes.
type (
	hijackWriter interface {
		http.Flusher
		http.Hijacker
	}
	http1Writer interface {
		hijackWriter
		io.ReaderFrom
		closeNotifier
	}
	http2Writer interface {
		http.Flusher
		http.Pusher
		closeNotifier
	}
)

// The types that forHandler returns: a writer with the optional interfaces of
// the inner one. Each holds a single pointer, so converting it to an interface
// does not allocate.
type (
	flusher  struct{ *writer }
	hijacker struct{ flusher }
	http1    struct{ hijacker }
	http2    struct{ flusher }
	pusher   struct{ *writer }
)

// forHandler returns w with the optional interfaces of the inner writer. The
// sets are those of the writers in net/http, for HTTP/1, HTTP/2 and
// http.TimeoutHandler, and two that wrappers often have: Flusher with and
// without Hijacker. A wrapper with any other set gets the largest of these that
// it implements; http.ResponseController reaches its other methods by Unwrap.
func (w *writer) forHandler() http.ResponseWriter {
	switch w.inner.(type) {
	case http1Writer:
		return http1{hijacker{flusher{w}}}
	case hijackWriter:
		return hijacker{flusher{w}}
	case http2Writer:
		return http2{flusher{w}}
	case http.Flusher:
		return flusher{w}
	case http.Pusher:
		return pusher{w}
	}
	return w
}

// Flush implements http.Flusher.
func (f flusher) Flush() {
	f.begin(http.StatusOK)
	f.inner.(http.Flusher).Flush()
}

// FlushError is Flush with the error, for http.ResponseController.
func (f flusher) FlushError() error {
	inner, ok := f.inner.(interface{ FlushError() error })
	if !ok {
		f.Flush()
		return nil
	}
	f.begin(http.StatusOK)
	err := inner.FlushError()
	f.wrote(0, err)
	return err
}

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := h.inner.(http.Hijacker).Hijack()
	if err == nil {
		h.hijacked = true
	}
	return conn, buffers, err
}

// ReadFrom implements io.ReaderFrom. Its error is not recorded, because it may
// come from src and not from the client's connection.
func (h http1) ReadFrom(src io.Reader) (int64, error) {
	h.begin(http.StatusOK)
	n, err := h.inner.(io.ReaderFrom).ReadFrom(src)
	h.wrote(n, nil)
	return n, err
}

// CloseNotify implements http.CloseNotifier.
func (h http1) CloseNotify() <-chan bool { return h.inner.(closeNotifier).CloseNotify() }

// CloseNotify implements http.CloseNotifier.
func (h http2) CloseNotify() <-chan bool { return h.inner.(closeNotifier).CloseNotify() }

// Push implements http.Pusher.
func (h http2) Push(target string, o *http.PushOptions) error {
	return pusher{h.writer}.Push(target, o)
}

// Push implements http.Pusher.
func (p pusher) Push(target string, o *http.PushOptions) error {
	return p.inner.(http.Pusher).Push(target, o)
}
