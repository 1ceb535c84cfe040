package wire

import (
	"bufio"
	"errors"
	"net"
	"net/http"
)

// A Response notes the status code and the length of what a handler answers.
type Response struct {
	http.ResponseWriter
	StatusCode   int // 0 as long as there is none
	BytesWritten int64

	hasStatus bool
}

// WriteHeader notes the status code; of several the last.
func (r *Response) WriteHeader(status int) {
	r.StatusCode, r.hasStatus = status, true
	r.ResponseWriter.WriteHeader(status)
}

// Write notes the bytes, and 200 unless there is a status code.
func (r *Response) Write(b []byte) (int, error) {
	if !r.hasStatus {
		r.StatusCode, r.hasStatus = http.StatusOK, true
	}
	n, err := r.ResponseWriter.Write(b)
	r.BytesWritten += int64(n)
	return n, err
}

// Flush flushes the answer if that is possible.
func (r *Response) Flush() {
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Hijack hands the connection to the handler if that is possible.
func (r *Response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if h, ok := r.ResponseWriter.(http.Hijacker); ok {
		return h.Hijack()
	}
	return nil, nil, errors.New("log: response does not implement http.Hijacker")
}

// Unwrap is for http.ResponseController.
func (r *Response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
