package livepage

import (
	"context"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"time"
)

// A Server serves the page of one run. Use [Serve].
type Server struct {
	Addr net.Addr

	http   http.Server
	served chan struct{}
}

const (
	// headTimeout is the time limit for the head of a request.
	headTimeout = 10 * time.Second
	// farewell is how long the end of a run waits until its viewers have the last event.
	farewell = time.Second
	// maxViewers limits the cost of the page.
	maxViewers = 8
)

// Serve listens at an address and serves own's web/index.html, with what it loads below /page/, and the story as
// server-sent events at /events. The caller calls Close.
func Serve(addr string, own fs.FS, story *Story) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", Handle(mux, "/page/", own))
	mux.Handle("GET /events", Private(limited(maxViewers, story)))
	s := &Server{Addr: listener.Addr(), served: make(chan struct{})}
	s.http = http.Server{
		Handler:           LocalNames(addr, OwnOrigin(mux)),
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // faults of viewers are not part of a run
	}
	go func() {
		defer close(s.served)
		s.http.Serve(listener) // until Close
	}()
	return s, nil
}

// limited refuses requests beyond a number at the same time.
func limited(most int, next http.Handler) http.Handler {
	places := make(chan struct{}, most)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			next.ServeHTTP(w, r)
		default:
			http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		}
	})
}

// Close ends the server, after the end of the story. It gives viewers a second to read the last event.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
	<-s.served
}
