package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/backend"
)

type backendCmd struct {
	Listen  string        `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Listen on ADDR (default ${default})."`
	Size    int64         `default:"0" placeholder:"BYTES" help:"Answer with a body of that many bytes; 0 shows the request instead."`
	Latency time.Duration `placeholder:"TIME" help:"Wait before each answer, e.g. 50ms."`
	Stall   time.Duration `placeholder:"TIME" help:"Pause in the middle of each body."`
	Status  int           `default:"200" placeholder:"CODE" help:"Answer with this status (default ${default})."`
	Header  []string      `sep:"none" placeholder:"NAME: VALUE" help:"Add a header to each answer; may be repeated."`
}

// Help implements kong.HelpProvider.
func (backendCmd) Help() string {
	return `A request can ask for itself: ?size=100000&latency=50ms&stall=1s&status=503.

Example:
  weir backend --listen 127.0.0.1:8080 --size 1024 --latency 20ms --header 'Cache-Control: no-store'`
}

// options checks the flags.
func (c *backendCmd) options() (backend.Options, error) {
	o := backend.Options{Size: c.Size, Latency: c.Latency, Stall: c.Stall, Status: c.Status, Header: http.Header{}}
	if err := backend.CheckStatus(c.Status); err != nil {
		return o, fmt.Errorf("--status: %w", err)
	}
	if c.Size < 0 || c.Latency < 0 || c.Stall < 0 {
		return o, fmt.Errorf("--size, --latency and --stall cannot be negative")
	}
	for _, h := range c.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return o, fmt.Errorf("--header %q: it must be NAME: VALUE", h)
		}
		o.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return o, nil
}

// Run runs the backend until a signal ends it.
func (c *backendCmd) Run(s streams) error {
	o, err := c.options()
	if err != nil {
		return &problem{err: err, hint: "weir backend --help", code: exitMisuse}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return &problem{err: err, hint: "choose another address with --listen"}
	}
	fmt.Fprintf(s.err, "weir: backend on http://%s\n", l.Addr())
	server := &http.Server{Handler: backend.Handler(o), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	server.Shutdown(closing)
	return server.Close()
}
