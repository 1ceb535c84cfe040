package httplog

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// A writer notes what a handler writes. Alone it has the methods that every
// ResponseWriter can have; faces adds those that only some have.
//
// Like any ResponseWriter it is for one goroutine at a time. Informational
// answers are the exception, httputil.ReverseProxy writes them from another:
// they touch no field.
type writer struct {
	inner    http.ResponseWriter
	isHead   bool  // the method is HEAD: net/http drops the body
	hijacked bool  // what is written from now on is not seen here
	status   int   // 0: the answer has not begun
	bytes    int64 // of the body
	err      error // the first that a write returned
}

// begin notes the status with which the answer begins, unless it has begun.
func (w *writer) begin(status int) {
	if w.status == 0 && !w.hijacked {
		w.status = status
	}
}

// wrote notes what became of a write.
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

// WriteHeader implements http.ResponseWriter. It notes the status afterwards:
// net/http panics for one that is none.
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

// WriteString implements io.StringWriter, for whatever is beneath.
func (w *writer) WriteString(s string) (int, error) {
	w.begin(http.StatusOK)
	n, err := io.WriteString(w.inner, s)
	w.wrote(int64(n), err)
	return n, err
}

// Unwrap is what http.ResponseController looks for.
func (w *writer) Unwrap() http.ResponseWriter { return w.inner }

// The optional interfaces of a ResponseWriter, each a type of its own so that
// faces can combine them.
type (
	flusher    struct{ w *writer }
	hijacker   struct{ w *writer }
	readerFrom struct{ w *writer }
	pusher     struct{ w *writer }
	notifier   struct{ w *writer }
)

// Flush implements http.Flusher.
func (f flusher) Flush() {
	f.w.begin(http.StatusOK)
	f.w.inner.(http.Flusher).Flush()
}

// FlushError is Flush for http.ResponseController, which wants to know.
func (f flusher) FlushError() error {
	telling, ok := f.w.inner.(interface{ FlushError() error })
	if !ok {
		f.Flush()
		return nil
	}
	f.w.begin(http.StatusOK)
	err := telling.FlushError()
	f.w.wrote(0, err)
	return err
}

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := h.w.inner.(http.Hijacker).Hijack()
	if err == nil {
		h.w.hijacked = true
	}
	return conn, buffers, err
}

// ReadFrom implements io.ReaderFrom. Its error may be the reader's, so it says
// nothing about the client.
func (r readerFrom) ReadFrom(src io.Reader) (int64, error) {
	r.w.begin(http.StatusOK)
	n, err := r.w.inner.(io.ReaderFrom).ReadFrom(src)
	r.w.wrote(n, nil)
	return n, err
}

// Push implements http.Pusher.
func (p pusher) Push(target string, o *http.PushOptions) error {
	return p.w.inner.(http.Pusher).Push(target, o)
}

// CloseNotify implements http.CloseNotifier.
func (n notifier) CloseNotify() <-chan bool {
	return n.w.inner.(closeNotifier).CloseNotify()
}

// A closeNotifier is an http.CloseNotifier, which is deprecated and yet asked
// for, by Gin for one, without a look at whether it is there.
type closeNotifier interface{ CloseNotify() <-chan bool }
