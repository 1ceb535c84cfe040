// Package labservice is what the services of the built-in experiments have in common: they serve until they are told
// to end, tell what their runtime does, and leave measures of their own.
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

// drainTime is how long answers may take that are under way when a service is told to end.
const drainTime = 5 * time.Second

// Serve serves h on the address until SIGTERM or SIGINT, and then until the requests under way are answered, but no
// longer than five seconds. Besides h there are /healthz, /debug/vars and /debug/pprof/, which h does not see.
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

// beside answers for h what is not its own. It compares paths by itself, since a mux would be part of what is measured.
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
