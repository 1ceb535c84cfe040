// Package backend is an HTTP service to put behind a front door while trying
// it, measuring it or testing it: it answers every request the same way, as
// large, as slow and as badly as it is told to.
package backend

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options say how a backend answers. The zero value answers 200 with a short
// text that tells what was asked.
type Options struct {
	Size    int64         // of the body in bytes; 0 means a text about the request
	Latency time.Duration // before the answer begins
	Stall   time.Duration // in the middle of the body
	Status  int           // 0 means 200
	Header  http.Header   // added to every answer
}

// maxSize bounds what a query may ask for.
const maxSize = 1 << 40

// Handler returns a handler that answers as o says. A request can say
// otherwise for itself in its query: ?size=100000&latency=50ms&stall=1s&status=503.
// The handler reads the request's body whole first.
func Handler(o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, err := o.with(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		io.Copy(io.Discard, r.Body) // a body that breaks off is answered like any other
		own.answer(w, r)
	})
}

// with returns the options with what a query changes of them.
func (o Options) with(query url.Values) (Options, error) {
	var err error
	read := func(key string, parse func(string) error) {
		if value := query.Get(key); value != "" && err == nil {
			if e := parse(value); e != nil {
				err = fmt.Errorf("%s=%s: %w", key, value, e)
			}
		}
	}
	duration := func(d *time.Duration) func(string) error {
		return func(s string) (err error) {
			*d, err = time.ParseDuration(s)
			return err
		}
	}
	read("latency", duration(&o.Latency))
	read("stall", duration(&o.Stall))
	read("size", func(s string) (err error) {
		o.Size, err = strconv.ParseInt(s, 10, 64)
		if err == nil && (o.Size < 0 || o.Size > maxSize) {
			err = fmt.Errorf("not between 0 and %d", int64(maxSize))
		}
		return err
	})
	read("status", func(s string) (err error) {
		o.Status, err = strconv.Atoi(s)
		if err == nil {
			err = CheckStatus(o.Status)
		}
		return err
	})
	return o, err
}

// CheckStatus refuses what cannot be the status of a final answer.
func CheckStatus(status int) error {
	if status < 200 || status > 599 {
		return fmt.Errorf("status %d is not between 200 and 599", status)
	}
	return nil
}

func (o Options) answer(w http.ResponseWriter, r *http.Request) {
	if !sleep(r, o.Latency) {
		return
	}
	h := w.Header()
	for name, values := range o.Header {
		h[name] = values
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	body := about(r)
	if o.Size > 0 {
		body = filler(o.Size)
	}
	status := o.Status
	if status == 0 {
		status = http.StatusOK
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		h.Set("Content-Length", strconv.FormatInt(body.Size(), 10))
	}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if o.Stall > 0 {
		io.CopyN(w, body, body.Size()/2)
		http.NewResponseController(w).Flush()
		if !sleep(r, o.Stall) {
			return
		}
	}
	io.Copy(w, body) // an error means that the client has left
}

// sleep waits, and tells whether the client did, too.
func sleep(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// about returns a text that shows what arrived.
func about(r *http.Request) *io.SectionReader {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s\nHost: %s\n", r.Method, r.RequestURI, r.Proto, r.Host)
	r.Header.Write(&b)
	return io.NewSectionReader(bytes.NewReader(b.Bytes()), 0, int64(b.Len()))
}

// filler returns n bytes that are not held anywhere.
func filler(n int64) *io.SectionReader { return io.NewSectionReader(pattern{}, 0, n) }

// pattern is an endless repetition of block.
type pattern struct{}

const line = "The river runs through the weir, and the weir counts every drop.\n"

var block = strings.Repeat(line, 512)

// ReadAt implements io.ReaderAt.
func (pattern) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, block[off%int64(len(block)):])
	for n < len(p) {
		n += copy(p[n:], block)
	}
	return n, nil
}
