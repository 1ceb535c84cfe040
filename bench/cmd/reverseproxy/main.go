// Reverseproxy is the peer that a Go programmer would write: httputil.ReverseProxy with a tuned transport and a buffer
// pool. It logs the three events of a proxied request with zerolog, with one write for each, to a file.
//
// Without -to it is a net/http server that responds with 1 KiB and logs nothing: the minimum cost of a Go proxy on
// net/http. On -figures it reports its number of allocations.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "where to serve")
	figures := flag.String("figures", "127.0.0.1:8081", "where to tell the count of allocations")
	to := flag.String("to", "", "the upstream, as http://host:port; without it every request is answered here")
	logFile := flag.String("log", os.DevNull, "where events are appended: a file, stdout or off")
	idle := flag.Int("idle", 256, "idle upstream connections to keep")
	flag.Parse()
	if err := serve(*listen, *figures, *to, *logFile, *idle); err != nil {
		log.Fatal(err)
	}
}

// serve runs until SIGTERM or SIGINT, and then until every request in flight is answered and logged.
func serve(listen, figures, to, logFile string, idle int) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	handler := http.Handler(http.HandlerFunc(respond))
	if to != "" {
		target, err := url.Parse(to)
		if err != nil {
			return err
		}
		log, err := openLog(logFile)
		if err != nil {
			return err
		}
		defer log.Close()
		handler = newProxy(target, zerolog.New(log), idle)
		if logFile == "off" {
			handler = newProxy(target, zerolog.Nop(), idle)
		}
	}
	servers := []*http.Server{{Addr: listen, Handler: handler}, {Addr: figures, Handler: http.HandlerFunc(tellMallocs)}}
	failed := make(chan error, len(servers))
	for _, s := range servers {
		go func() { failed <- s.ListenAndServe() }()
	}
	select {
	case <-ctx.Done():
	case err := <-failed:
		failed <- err // for the receiver below
	}
	return shutDown(servers, failed)
}

func openLog(name string) (*os.File, error) {
	switch name {
	case "off":
		name = os.DevNull
	case "stdout":
		return os.Stdout, nil
	}
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
}

// shutDown shuts the servers down in order, and returns the error of one that ended before.
func shutDown(servers []*http.Server, failed <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.Shutdown(ctx))
	}
	for range servers {
		if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

var kibibyte = []byte(strings.Repeat("weir\n", 1024)[:1024])

// The values of its headers are shared by all responses, so that only net/http allocates.
var plainText, kibibyteLength = []string{"text/plain"}, []string{"1024"}

func respond(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Content-Type"] = plainText
	w.Header()["Content-Length"] = kibibyteLength
	w.Write(kibibyte)
}

// tellMallocs responds in the format of Prometheus' own collector.
func tellMallocs(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintf(w, "go_memstats_mallocs_total %d\n", m.Mallocs)
}
