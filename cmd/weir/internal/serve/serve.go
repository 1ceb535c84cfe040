// Package serve has the verbs that run the front door and prepare its start:
// weir serve, check, doctor and backend.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/machine"
)

type Command struct {
	Config string `short:"c" placeholder:"FILE" help:"Read the configuration from FILE. Without it, all requests go to a demo backend."`
	Listen string `placeholder:"ADDR" help:"Listen on ADDR (host:port) instead of the address in FILE. The demo listens on 127.0.0.1:20000."`
	Admin  string `placeholder:"ADDR" help:"Put the admin listener on ADDR (host:port, or \"off\") instead of the address in FILE (default 127.0.0.1:20001)."`
}

// Help implements kong.HelpProvider.
func (Command) Help() string {
	return `Events go to stdout as JSON lines, unless the configuration has another destination or format. HUMAN_LOG=1
in the environment makes them human-readable.

SIGTERM and SIGINT drain: for drain.delay (1s) weir still serves and asks clients to reconnect; then requests in
flight finish, and it exits with 0. A second signal ends it immediately. The next weir serve can take over the ports
while this one drains.

SIGHUP reads the configuration again and applies it, or keeps the previous one if it has a mistake. SIGHUP and SIGUSR1
reopen the log's files, after they have been renamed.

Examples:
  weir serve
  weir serve --config weir.yaml
  weir serve --listen 127.0.0.1:8000 --admin off`
}

// Run runs the door until a signal ends it.
func (c *Command) Run(s cli.Streams) error {
	// A write to a log reader that is gone must not end the process.
	signal.Ignore(syscall.SIGPIPE)
	// A program that has read the greeting may send signals: catch them before.
	signals := catchSignals()
	defer signals.stop()
	if err := c.checkAddresses(); err != nil {
		return err
	}
	limitMemory(s.Err)
	defer runtime.KeepAlive(heapFloor())
	cfg, stop, err := c.load()
	if err != nil {
		return err
	}
	defer stop()
	stderr := newMessages(s.Err)
	defer stderr.flush()
	if err := c.open(cfg, s, stderr, signals); err != nil {
		cli.PrintError(stderr, err)
		return cli.ErrReported
	}
	return nil
}

// signalChannels receive the signals of weir serve. The signals that end it have
// their own channel, so that many reloads cannot displace them.
type signalChannels struct{ end, reload chan os.Signal }

func catchSignals() signalChannels {
	c := signalChannels{end: make(chan os.Signal, 2), reload: make(chan os.Signal, 8)}
	signal.Notify(c.end, syscall.SIGTERM, syscall.SIGINT)
	signal.Notify(c.reload, syscall.SIGHUP, syscall.SIGUSR1)
	return c
}

func (c signalChannels) stop() {
	signal.Stop(c.end)
	signal.Stop(c.reload)
}

// open opens the log and the door, serves, and closes the log.
func (c *Command) open(cfg *config.Config, s cli.Streams, stderr io.Writer, signals signalChannels) (err error) {
	out, err := openLog(cfg, s, stderr)
	if err != nil {
		return err
	}
	defer func() { err = closeLog(out, stderr, err) }()
	door, err := front.New(cfg, out)
	if err != nil {
		return err
	}
	if err := door.Listen(); err != nil {
		return cli.WithHint(err, listenHint(err))
	}
	c.greet(door, stderr)
	return c.serve(door, out, cfg.Drain.Delay+cfg.Drain.Timeout, stderr, signals)
}

// checkAddresses checks the flags that name an address.
func (c *Command) checkAddresses() error {
	for _, f := range []struct{ flag, addr, example string }{
		{"--listen", c.Listen, "127.0.0.1:20000"},
		{"--admin", c.Admin, "127.0.0.1:20001"},
	} {
		if f.addr == "" || f.flag == "--admin" && f.addr == config.AdminOff {
			continue
		}
		if _, _, err := net.SplitHostPort(f.addr); err != nil {
			return cli.Misuse(fmt.Errorf("%s: %w", f.flag, err), "write host:port, as in "+f.flag+" "+f.example)
		}
	}
	return nil
}

func listenHint(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return inUseHint(err)
	case errors.Is(err, syscall.EACCES):
		return "ports below 1024 need privileges; choose another with --listen or --admin"
	}
	return ""
}

// inUseHint returns a hint for an address in use. A port in the range of
// ephemeral ports can be in use without a listener.
func inUseHint(err error) string {
	var failed *net.OpError
	port := 0
	if errors.As(err, &failed) {
		port = failed.Addr.(*net.TCPAddr).Port // a door listens on TCP only
	}
	switch machine.UseOfPort("/", port) {
	case machine.PortTimeWait:
		return "a connection that had this port has just ended (TIME-WAIT); try again in a minute, " +
			"or choose another with --listen or --admin"
	case machine.PortConnected:
		return "an outgoing connection has this port; " +
			"choose one outside of net.ipv4.ip_local_port_range with --listen or --admin"
	default:
		return "another process has this address; choose another with --listen or --admin"
	}
}

// greet prints the addresses of the door and a command to try.
func (c *Command) greet(door *front.Door, stderr io.Writer) {
	for _, addr := range door.Addrs() {
		fmt.Fprintf(stderr, "weir: listening on http://%s\n", addr)
	}
	if addr := door.AdminAddr(); addr != nil {
		fmt.Fprintf(stderr, "weir: admin on http://%s (/metrics /healthz /readyz /debug/pprof/)\n", addr)
	}
	if c.Config == "" {
		fmt.Fprintf(stderr, "weir: a demo backend answers; events go to stdout. Try:\n"+
			"weir:   curl -i 'http://%s/embed/visualisations/a/b?x=1'\n", door.Addrs()[0])
	}
}

// serve runs the door until SIGTERM or SIGINT, and reloads at SIGHUP. SIGHUP and
// SIGUSR1 open the log's files again. A second signal ends the drain. If a drain
// takes longer than draining and afterDrain, serve abandons the log.
func (c *Command) serve(door *front.Door, out *front.Log, draining time.Duration, stderr io.Writer,
	signals signalChannels) error {
	ctx, drain := context.WithCancel(context.Background())
	defer drain()
	done := make(chan error, 1)
	go func() { done <- door.Serve(ctx) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	watch := newLossWatch(stderr)
	for {
		select {
		case <-tick.C:
			watch.check(out.Destinations())
		case err := <-done:
			return err
		case sig := <-signals.reload:
			reopenLog(out, stderr)
			if sig == syscall.SIGHUP {
				c.reload(door, stderr)
			}
		case sig := <-signals.end:
			if ctx.Err() != nil {
				return fmt.Errorf("%v while draining: requests in flight were cut", sig)
			}
			fmt.Fprintf(stderr, "weir: %v: draining\n", sig)
			drain()
			overdue := time.AfterFunc(draining+afterDrain, func() { abandonLog(out) })
			defer overdue.Stop()
		}
	}
}

// reload reads the configuration again. A bad one changes nothing.
func (c *Command) reload(door *front.Door, stderr io.Writer) {
	if c.Config == "" {
		fmt.Fprintln(stderr, "weir: reload: there is no configuration to read; start with --config")
		return
	}
	cfg, err := readConfig(c.Config)
	if err == nil {
		c.override(cfg)
		var fixed []string
		if fixed, err = door.Reload(cfg); err == nil {
			fmt.Fprintf(stderr, "weir: reloaded %s\n", c.Config)
			if len(fixed) > 0 {
				fmt.Fprintf(stderr, "weir: hint: only a restart changes %v\n", fixed)
			}
			return
		}
	}
	cli.PrintError(stderr, fmt.Errorf("reload: the previous configuration stays: %w", err))
	waitForLog(func() error {
		door.ReloadFailed(err)
		return nil
	})
}
