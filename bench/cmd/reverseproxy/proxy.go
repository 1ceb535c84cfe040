package main

import (
	"crypto/rand"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// newProxy returns a handler that sends requests to target, keeps idle connections, and writes the events of requests
// to log, one Write for each.
func newProxy(target *url.URL, log zerolog.Logger, idle int) http.Handler {
	zerolog.TimestampFieldName = "created_at"
	zerolog.TimeFieldFormat = time.RFC3339Nano
	zerolog.TimestampFunc = func() time.Time { return time.Now().UTC() }
	zerolog.MessageFieldName = "event"
	p := &proxy{
		events: log.With().Timestamp().Str("namespace", "front-door").Logger(),
		target: target.String(),
	}
	p.next = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		Transport: &http.Transport{
			MaxIdleConnsPerHost: idle,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
		},
		BufferPool: &buffers{sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}},
	}
	return p
}

type proxy struct {
	events zerolog.Logger
	target string
	next   *httputil.ReverseProxy
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := exchange{request: r, started: time.Now().UTC(), destination: p.target}
	e.host, e.port = splitHost(r.Host)
	id := traceID(r)
	w.Header().Set("X-Request-Id", id)
	p.events.Info().Str("trace_id", id).Object("http", (*receivedHTTP)(&e)).Msg("http request received")
	p.events.Info().Str("trace_id", id).Object("http", (*proxyingHTTP)(&e)).Object("data",
		(*target)(&e)).Msg("proxying request")
	counted := &countingWriter{ResponseWriter: w, status: http.StatusOK}
	p.next.ServeHTTP(counted, r)
	e.status, e.length, e.ended = counted.status, counted.length, time.Now().UTC()
	p.events.Info().Str("trace_id", id).Object("http", (*completedHTTP)(&e)).Msg("http request completed")
}

// traceID returns the request's own id, or makes one and adds it for the upstream.
func traceID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" {
		return id
	}
	id := rand.Text()[:16]
	r.Header.Set("X-Request-Id", id)
	return id
}

func splitHost(hostport string) (string, int) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport, 0
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return hostport, 0
	}
	return host, n
}

// countingWriter stores the status and the size of the response.
type countingWriter struct {
	http.ResponseWriter
	status int
	length int64
}

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.length += int64(n)
	return n, err
}

// Unwrap allows ReverseProxy to flush and to take over connections.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return *b.pool.Get().(*[]byte) }
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
