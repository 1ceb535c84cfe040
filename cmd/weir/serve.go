package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/log"
)

type serveCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"Read the configuration from FILE. Without one, everything goes to a demo backend."`
	Listen string `placeholder:"ADDR" help:"Listen on ADDR (host:port), whatever FILE says. The demo listens on 127.0.0.1:20000."`
	Admin  string `placeholder:"ADDR" help:"Put the admin listener on ADDR (host:port, or \"off\"), whatever FILE says (default 127.0.0.1:20001)."`
}

// Help implements kong.HelpProvider.
func (serveCmd) Help() string {
	return `Events go to stdout as JSON lines, or where and how the configuration says; HUMAN_LOG=1 in the environment makes them readable on a terminal. SIGTERM and SIGINT drain: for drain.delay (1s) weir still serves and asks clients to reconnect, then requests in flight finish and it exits with 0; a second signal ends it at once. The next weir serve can take the ports over while this one drains. SIGHUP reads the configuration again: its routes, redirects, upstreams, constraints and trusted proxies apply at once, the other keys after a restart. SIGHUP and SIGUSR1 open the log's files anew, for those who have moved them.

Examples:
  weir serve
  weir serve --config weir.yaml
  weir serve --listen 127.0.0.1:8000 --admin off`
}

// Run runs the door until a signal ends it.
func (c *serveCmd) Run(s cli.Streams) error {
	// A reader of the log that goes away must not take the door with it.
	signal.Ignore(syscall.SIGPIPE)
	// Whoever has read the greeting may send signals, so they are caught first.
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
	says := newVoice(s.Err)
	defer says.end()
	if err := c.open(cfg, s, says, signals); err != nil {
		cli.PrintError(says, err)
		return cli.ErrReported
	}
	return nil
}

// caught are the signals that weir serve hears. Each kind has a channel of its
// own: however many ask to renew something, the one that ends it is not lost.
type caught struct{ end, renew chan os.Signal }

func catchSignals() caught {
	c := caught{end: make(chan os.Signal, 2), renew: make(chan os.Signal, 8)}
	signal.Notify(c.end, syscall.SIGTERM, syscall.SIGINT)
	signal.Notify(c.renew, syscall.SIGHUP, syscall.SIGUSR1)
	return c
}

func (c caught) stop() {
	signal.Stop(c.end)
	signal.Stop(c.renew)
}

// open opens the log and the door, and serves. It closes the log.
func (c *serveCmd) open(cfg *config.Config, s cli.Streams, says io.Writer, signals caught) (err error) {
	out, err := openLog(cfg, s, says)
	if err != nil {
		return err
	}
	defer func() { err = closeLog(out, says, err) }()
	door, err := front.New(cfg, out)
	if err != nil {
		return err
	}
	if err := door.Listen(); err != nil {
		return cli.WithHint(err, listenHint(err))
	}
	c.greet(door, says)
	return c.serve(door, out, cfg.Drain.Delay+cfg.Drain.Timeout, says, signals)
}

// checkAddresses checks the flags that name an address.
func (c *serveCmd) checkAddresses() error {
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

// load reads the configuration, or makes one for a demo backend that it
// starts. stop ends the backend.
func (c *serveCmd) load() (cfg *config.Config, stop func(), err error) {
	stop = func() {}
	if c.Config == "" {
		cfg, stop, err = demo()
	} else {
		cfg, err = readConfig(c.Config)
	}
	if err != nil {
		return nil, nil, err
	}
	c.override(cfg)
	return cfg, stop, nil
}

// override puts what flags and the environment say before what the file says.
func (c *serveCmd) override(cfg *config.Config) {
	if human, _ := strconv.ParseBool(os.Getenv("HUMAN_LOG")); human {
		cfg.Log.Format = log.FormatHuman.String()
	}
	if c.Listen != "" {
		cfg.Listen = []string{c.Listen}
	}
	if c.Admin != "" {
		cfg.Admin = c.Admin
	}
}

// readConfig reads and checks a file.
func readConfig(file string) (*config.Config, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, cli.Misuse(err, fileHint(err))
	}
	cfg, err := config.Parse(file, src, os.LookupEnv)
	if err != nil {
		return nil, cli.WithHint(hasMistakes(file, err), "weir check "+file)
	}
	return cfg, nil
}

// shownMistakes is the number of mistakes that are shown at a start or a reload.
// A file of redirects can have thousands.
const shownMistakes = 20

// hasMistakes returns the error about a file that config.Parse rejects.
func hasMistakes(file string, err error) error {
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) && len(mistakes) > shownMistakes {
		return fmt.Errorf("%s has %d mistakes, of which these are the first %d:\n%w",
			file, len(mistakes), shownMistakes, mistakes[:shownMistakes])
	}
	return fmt.Errorf("%s has mistakes:\n%w", file, err)
}

func fileHint(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "weir serve without --config fronts a demo backend"
	}
	return "the file must be readable by the user that runs weir"
}

// demo starts a backend on a free port of the loopback interface and returns a
// configuration that sends everything there.
func demo() (cfg *config.Config, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("demo backend: %w", err)
	}
	server := &http.Server{Handler: backend.Handler(backend.Options{})}
	go server.Serve(l) // ends when stop closes it
	cfg = config.Default()
	cfg.Listen = []string{"127.0.0.1:20000"}
	cfg.Upstreams = []config.Upstream{{Name: "demo", Servers: []string{"http://" + l.Addr().String()}}}
	cfg.Routes = []config.Route{config.DefaultRoute("/{path...}", "demo")}
	return cfg, func() { server.Close() }, nil
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

// inUseHint returns what to do about an address that is in use. A port of the
// range for outgoing connections may be in use without a listener.
func inUseHint(err error) string {
	var failed *net.OpError
	port := 0
	if errors.As(err, &failed) {
		port = failed.Addr.(*net.TCPAddr).Port // the only network that a door listens on
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

// greet says on stderr where the door is and what to try next.
func (c *serveCmd) greet(door *front.Door, says io.Writer) {
	for _, addr := range door.Addrs() {
		fmt.Fprintf(says, "weir: listening on http://%s\n", addr)
	}
	if addr := door.AdminAddr(); addr != nil {
		fmt.Fprintf(says, "weir: admin on http://%s (/metrics /healthz /readyz /debug/pprof/)\n", addr)
	}
	if c.Config == "" {
		fmt.Fprintf(says, "weir: a demo backend answers; events go to stdout. Try:\n"+
			"weir:   curl -i 'http://%s/embed/visualisations/a/b?x=1'\n", door.Addrs()[0])
	}
}

// serve runs the door until SIGTERM or SIGINT, and reloads on SIGHUP; that and
// SIGUSR1 open the log's files anew. A second signal ends the drain, and the
// log lets go of those who wait for it when that should be over for long.
func (c *serveCmd) serve(door *front.Door, out *front.Log, draining time.Duration, says io.Writer, signals caught) error {
	ctx, drain := context.WithCancel(context.Background())
	defer drain()
	done := make(chan error, 1)
	go func() { done <- door.Serve(ctx) }()
	look := time.NewTicker(time.Second)
	defer look.Stop()
	watch := newLossWatch(says)
	for {
		select {
		case <-look.C:
			watch.look(out.Destinations())
		case err := <-done:
			return err
		case sig := <-signals.renew:
			reopenLog(out, says)
			if sig == syscall.SIGHUP {
				c.reload(door, says)
			}
		case sig := <-signals.end:
			if ctx.Err() != nil {
				return fmt.Errorf("%v while draining: requests in flight were cut", sig)
			}
			fmt.Fprintf(says, "weir: %v: draining\n", sig)
			drain()
			late := time.AfterFunc(draining+afterDrain, func() { giveUpLog(out) })
			defer late.Stop()
		}
	}
}

// reload reads the configuration again. A bad one changes nothing.
func (c *serveCmd) reload(door *front.Door, says io.Writer) {
	if c.Config == "" {
		fmt.Fprintln(says, "weir: reload: there is no configuration to read; start with --config")
		return
	}
	cfg, err := readConfig(c.Config)
	if err == nil {
		c.override(cfg)
		var fixed []string
		if fixed, err = door.Reload(cfg); err == nil {
			fmt.Fprintf(says, "weir: reloaded %s\n", c.Config)
			if len(fixed) > 0 {
				fmt.Fprintf(says, "weir: hint: restart to change %v\n", fixed)
			}
			return
		}
	}
	cli.PrintError(says, fmt.Errorf("reload: the configuration of before stays: %w", err))
	waitForLog(func() error {
		door.ReloadFailed(err)
		return nil
	})
}
