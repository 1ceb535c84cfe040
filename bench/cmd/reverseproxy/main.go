// Reverseproxy is the peer that a Go programmer would write: httputil.ReverseProxy with a tuned transport and a
// buffer pool, and the three events of FORMAT's proxied request by zerolog, one write for each, to a file.
//
// Without -to it is a net/http server that answers a kibibyte itself and logs nothing: what any Go proxy on net/http
// costs at the least. On -figures it tells how much it allocated.
package main

import (
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
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "where to serve")
	figures := flag.String("figures", "127.0.0.1:8081", "where to tell the count of allocations")
	to := flag.String("to", "", "the upstream, as http://host:port; without it every request is answered here")
	logFile := flag.String("log", os.DevNull, "where events are appended")
	flag.Parse()
	if err := serve(*listen, *figures, *to, *logFile); err != nil {
		log.Fatal(err)
	}
}

// serve runs until SIGTERM or SIGINT.
func serve(listen, figures, to, logFile string) error {
	handler := http.Handler(http.HandlerFunc(answer))
	if to != "" {
		target, err := url.Parse(to)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		handler = newProxy(target, f)
	}
	failed := make(chan error, 2)
	go func() { failed <- http.ListenAndServe(figures, http.HandlerFunc(tellMallocs)) }()
	go func() { failed <- http.ListenAndServe(listen, handler) }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	select {
	case <-stop:
		return nil
	case err := <-failed:
		return errors.Join(errors.New("cannot serve"), err)
	}
}

var kibibyte = []byte(strings.Repeat("weir\n", 1024)[:1024])

func answer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", "1024")
	w.Write(kibibyte)
}

// tellMallocs answers in the words of Prometheus' own collector.
func tellMallocs(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintf(w, "go_memstats_mallocs_total %d\n", m.Mallocs)
}
