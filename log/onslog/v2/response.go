package log

import (
	"bufio"
	"errors"
	"net"
	"net/http"
)

// A response records the status code and the body length of a response.
type response struct {
	http.ResponseWriter
	StatusCode   int // 0 until the handler has set one
	BytesWritten int64

	hasStatus bool
}

// WriteHeader records the status code. A later call overwrites it.
func (r *response) WriteHeader(status int) {
	r.StatusCode, r.hasStatus = status, true
	r.ResponseWriter.WriteHeader(status)
}

// Write records the number of bytes, and the status code 200 if there is none.
func (r *response) Write(b []byte) (int, error) {
	if !r.hasStatus {
		r.StatusCode, r.hasStatus = http.StatusOK, true
	}
	n, err := r.ResponseWriter.Write(b)
	r.BytesWritten += int64(n)
	return n, err
}

// Flush flushes the response if the ResponseWriter supports it.
func (r *response) Flush() {
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Hijack lets the handler take over the connection if the ResponseWriter
// supports it.
func (r *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if h, ok := r.ResponseWriter.(http.Hijacker); ok {
		return h.Hijack()
	}
	return nil, nil, errors.New("log: response does not implement http.Hijacker")
}

// Unwrap supports http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
