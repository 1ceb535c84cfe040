// Package labservice is the common part of the services in the built-in experiments: they serve until they are told to
// end, expose data of their runtime, and write measures.
package labservice

import (
	"context"
	"errors"
	"expvar"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// drainTime limits the time for responses in progress when a service is told to end.
const drainTime = 5 * time.Second

// Serve serves h on the address until SIGTERM or SIGINT, and then until the requests in flight are answered, but at
// most for five more seconds. It also serves /healthz, /debug/vars and /debug/pprof/, which are not passed to h.
func Serve(address string, h http.Handler) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return serve(ctx, l, h)
}

func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: beside(h)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := server.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-ended
	return err
}

// beside handles the paths that do not belong to h. It compares paths itself, because a mux would be part of the
// measurement.
func beside(h http.Handler) http.Handler {
	own := http.NewServeMux()
	own.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	own.Handle("GET /debug/vars", expvar.Handler())
	own.HandleFunc("GET /debug/pprof/", pprof.Index)
	own.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.Path; path == "/healthz" || strings.HasPrefix(path, "/debug/") {
			own.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}
