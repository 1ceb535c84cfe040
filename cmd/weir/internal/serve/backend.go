package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/readable"
)

type BackendCommand struct {
	Listen  string         `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Listen on ADDR (default ${default})."`
	Size    readable.Bytes `default:"0" placeholder:"BYTES" help:"Respond with a body of BYTES, such as 1000, 50kB or 1MiB. With 0, the default, the body shows the request."`
	Latency time.Duration  `placeholder:"TIME" help:"Wait for TIME, such as 50ms, before each response."`
	Burn    time.Duration  `placeholder:"TIME" help:"Use TIME of CPU time, such as 20us, for each response, in addition to its usual cost."`
	Stall   time.Duration  `placeholder:"TIME" help:"Pause for TIME in the middle of each body."`
	Status  int            `default:"200" placeholder:"CODE" help:"Respond with status CODE (default ${default})."`
	Header  []string       `sep:"none" placeholder:"LINE" help:"Add \"Name: value\" to each response. May be repeated."`
	Record  string         `placeholder:"FILE" help:"Append the method and the target of each request to FILE before the response."`
}

// Help implements kong.HelpProvider.
func (BackendCommand) Help() string {
	return `Responds to every request with the size, latency, CPU cost and status of the flags. The query of a request
overrides them: ?size=1MiB&latency=50ms&burn=20us&stall=1s&status=503.

--burn spins on the clock of the thread's CPU time, so that a response costs the same on a busy machine. It is for
testing measuring tools.

--record is for counting requests that a front door sends twice. A line is in the file even if the backend is killed
immediately afterwards.

Examples:
  weir backend
  weir backend --listen 127.0.0.1:0 --size 1KiB --latency 20ms
  weir backend --burn 20us
  weir backend --status 503 --header 'Retry-After: 5'`
}

// options checks the flags.
func (c *BackendCommand) options() (backend.Options, error) {
	o := backend.Options{Size: int64(c.Size), Latency: c.Latency, Burn: c.Burn, Stall: c.Stall, Status: c.Status,
		Header: http.Header{}}
	for _, h := range c.Header {
		name, value, err := backend.ParseHeader(h)
		if err != nil {
			return o, fmt.Errorf("--header: %w", err)
		}
		o.Header.Add(name, value)
	}
	return o, o.Check()
}

// Run runs the backend until a signal ends it.
func (c *BackendCommand) Run(s cli.Streams) error {
	o, err := c.options()
	if err != nil {
		return cli.Misuse(err, "weir backend --help")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if c.Record != "" {
		file, err := os.OpenFile(c.Record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		defer file.Close()
		o.Record = file
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return cli.WithHint(err, "choose another address with --listen")
	}
	cli.Say(s.Err, "backend on http://"+l.Addr().String())
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
