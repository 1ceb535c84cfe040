// Package serve has the verbs that run the front door and prepare its start:
// weir serve, check, doctor and backend.
package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/readable"
)

type Command struct {
	fileOption
	quickOptions
	Listen string `type:"nonempty" placeholder:"ADDR" help:"Listen on ADDR (host:port) instead of the address in FILE. The demo listens on 127.0.0.1:20000, --to and --files on port 20000 of all interfaces."`
	Admin  string `type:"nonempty" placeholder:"ADDR" help:"Put the admin listener on ADDR (host:port, or \"off\") instead of the address in FILE (default ${admin})."`
}

// Help implements kong.HelpProvider.
func (Command) Help() string {
	return `Without a file, --to URL forwards all requests to a service, and --files DIR serves a folder; --print prints the
configuration to begin with. Without any of them, a demo backend responds. Events go to stdout as JSON lines, unless the
configuration has another destination or format. HUMAN_LOG=1 in the environment makes them human-readable, unless
a destination is a server.

SIGTERM and SIGINT drain: for drain.delay (1s) weir still serves and asks clients to reconnect; then requests in
flight finish, and it exits with 0. A second signal ends it immediately. The next weir serve can take over the ports
while this one drains.

SIGHUP or weir reload reads the configuration again and applies it, or keeps the previous one if it has a mistake; watch:
true does so whenever the file changes. SIGHUP and SIGUSR1 reopen the log's files, after they have been renamed. weir
upgrade replaces the process by a new binary. docs/configuration/process.md describes the use with systemd.

Examples:
  weir serve
  weir serve --to http://127.0.0.1:3000
  weir serve --to http://127.0.0.1:3000 --tls example.com
  weir serve --config weir.yaml
  weir serve --listen 127.0.0.1:8000 --admin off`
}

// Run runs the door until a signal ends it.
func (c *Command) Run(s cli.Streams) error {
	// A write to a log reader that is gone must not end the process.
	signal.Ignore(syscall.SIGPIPE)
	if err := c.take(); err != nil {
		return err
	}
	if err := c.check(c.Config); err != nil {
		return err
	}
	if err := c.checkAddresses(); err != nil {
		return err
	}
	if c.Print {
		src, err := c.file()
		if err == nil {
			_, err = c.parse(src)
		}
		if err == nil {
			_, err = s.Out.Write(src)
		}
		return err
	}
	limitMemory(s.Err)
	defer runtime.KeepAlive(heapFloor())
	life := newLifetime(s.Err)
	return life.run(func() error { return c.work(s, life) })
}

// work reads the configuration and serves.
func (c *Command) work(s cli.Streams, life *lifetime) error {
	cfg, stop, err := c.load()
	if err != nil {
		return err
	}
	defer stop()
	warn(life.stderr, c.Config, cfg.Warnings)
	if err := c.open(cfg, s, life); err != nil {
		cli.PrintError(life.stderr, err)
		return cli.ErrReported
	}
	return nil
}

// open opens the log and the door, serves, and closes the log.
func (c *Command) open(cfg *config.Config, s cli.Streams, life *lifetime) (err error) {
	stderr := life.stderr
	before, sockets, err := inherit(cfg, stderr)
	if err != nil {
		return err
	}
	out, err := openLog(cfg, s, stderr)
	if err != nil {
		return err
	}
	defer func() { err = closeLog(out, life, err) }()
	door, err := engines.New(cfg, out)
	if err != nil {
		return err
	}
	door.Adopt(sockets)
	if err := door.Listen(); err != nil {
		return cli.WithHint(err, listenHint(err))
	}
	life.door.Store(door) // a program that reads the greeting may send signals
	c.greet(door, stderr)
	r := &running{Command: c, door: door, out: out, stderr: stderr, life: life}
	r.config.Store(cfg)
	return r.serve(before)
}

// upgradeVariable is the environment variable by which a process passes the name of its
// offer to the next one.
const upgradeVariable = "WEIR_UPGRADE"

// inherit returns the sockets of systemd or of the process that this one replaces, which is
// nil if there is none.
func inherit(cfg *config.Config, stderr io.Writer) (*front.Predecessor, map[string][]*net.TCPListener, error) {
	name, ok := os.LookupEnv(upgradeVariable)
	if !ok {
		sockets, err := passedSockets(cfg, stderr)
		return nil, sockets, err
	}
	os.Unsetenv(upgradeVariable)
	before, err := front.Succeed(name)
	if err != nil {
		return nil, nil, fmt.Errorf("upgrade: %w", err)
	}
	return before, before.Listeners(), nil
}

// checkAddresses checks the flags that name an address.
func (c *Command) checkAddresses() error {
	for _, f := range []struct{ flag, addr, example string }{
		{"--listen", c.Listen, "127.0.0.1:20000"},
		{"--admin", c.Admin, config.DefaultAdmin},
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
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return fmt.Sprintf("the user that runs weir must have access to %s", filepath.Dir(file.Path))
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
	for _, url := range door.URLs() {
		fmt.Fprintf(stderr, "weir: listening on %s\n", url)
	}
	if addr := door.AdminAddr(); addr != nil {
		fmt.Fprintf(stderr, "weir: admin on http://%s (/metrics /healthz /readyz /debug/pprof/)\n", addr)
	}
	if n, memory := door.LimitFromMemory(); n > 0 {
		fmt.Fprintf(stderr, "weir: limits.max_connections is %d, because of %s of memory\n", n, readable.Size(float64(memory)))
	}
	if c.Config == "" && !c.given() {
		fmt.Fprintf(stderr, "weir: a demo backend responds; events go to stdout. Try:\n"+
			"weir:   curl -i 'http://%s/embed/visualisations/a/b?x=1'\n", door.Addrs()[0])
	}
}
