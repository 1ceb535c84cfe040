// Command shop is a service that logs everything from its start to its end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
	"github.com/weirhq/weir/log/sink"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen on")
	flag.Parse()

	// If the reader of stdout is gone, a write returns an error. Without this
	// line, the signal would end the process.
	signal.Ignore(syscall.SIGPIPE)

	// The queue writes in its own goroutine, so that requests do not wait for a
	// slow reader. Its memory is bounded. It counts the events that it drops,
	// and logs the number.
	stdout := sink.NewFallback(sink.Std(os.Stdout), sink.Std(os.Stderr))
	queue := sink.NewQueue(stdout, sink.QueueOptions{Heartbeat: 10 * time.Second})

	logger := log.New(queue, log.Options{Namespace: "shop", Format: log.FormatAuto})
	log.SetDefault(logger) // for log.From outside a request

	err := serve(*listen, logger)
	if err != nil {
		logger.Error("server failed").Err(err).Send()
	}

	// Close writes the waiting events. Without it they are lost.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	err = errors.Join(err, queue.Close(ctx))
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// serve returns after SIGTERM or Ctrl-C, when the requests in flight have
// ended.
func serve(address string, logger *log.Logger) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		log.From(r.Context()).Info("order found").Str("order", r.PathValue("id")).Send()
		io.WriteString(w, "an order\n")
	})

	server := &http.Server{Handler: httplog.Middleware(logger, httplog.Options{})(mux)}
	// The server's own messages become events too.
	server.ErrorLog = stdlog.New(io.Discard, "", 0)
	log.Capture(server.ErrorLog, logger, log.LevelWarn, "http server complaint")

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	logger.Info("listening").Str("address", listener.Addr().String()).Send()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	drained := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		timeout, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		drained <- server.Shutdown(timeout)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-drained
}
