// Package proxy compares whole front doors: the CPU time of the proxy's processes per request that a load generator
// completed, including its log to a file, its garbage collector and its system calls.
package proxy

import (
	"fmt"
	"os"
	"path/filepath"
)

// A Door is one proxy with its settings for the comparison.
type Door struct {
	Name string
	Note string
	// Lines is the number of log lines per request. A pass with fewer lines is invalid.
	Lines int

	log string // destination of its log if that is not a file of the pass
	// the lowest level that Weir writes; the others have no such setting here
	level string
	// path that reports its allocations, on the port for figures; may be empty
	mallocs string
	command func(t Tools, s site) (command, error) // writes the configuration to s.dir
}

// The names of the doors.
const (
	Nginx        = "nginx"
	ReverseProxy = "httputil.ReverseProxy"
	Caddy        = "caddy"
	Weir         = "weir"
	WeirNull     = "weir to /dev/null"
	WeirSilent   = "weir without events"
	ServerOnly   = "net/http's server"
)

// Doors are the doors of the comparison.
var Doors = []Door{
	{Name: Nginx, Note: "one line for a request", Lines: 1, command: nginxDoor},
	{Name: ReverseProxy, Note: "zerolog, three lines", Lines: 3, mallocs: "/", command: reverseProxyDoor},
	{Name: Caddy, Note: "one line for a request", Lines: 1, command: caddyDoor},
	{Name: Weir, Note: "three lines", Lines: 3, level: "info", mallocs: "/metrics", command: weirDoor},
	{Name: WeirNull, Note: "three lines, thrown away", log: os.DevNull, level: "info", mallocs: "/metrics",
		command: weirDoor},
	{Name: WeirSilent, Note: "level error", level: "error", mallocs: "/metrics", command: weirDoor},
	{Name: ServerOnly, Note: "answers itself: no upstream, no log", mallocs: "/", command: serverDoor},
}

// Tools are the paths of the programs that the comparison runs. An empty one is missing.
type Tools struct {
	Nginx, Caddy, Weir, ReverseProxy string
}

// Missing returns why the door cannot run with these tools, or "" if it can.
func (d Door) Missing(t Tools) string {
	switch {
	case d.Name == Caddy && t.Caddy == "":
		return "install it in the repository's root with: GOBIN=$PWD/.bench/bin go install " +
			"github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9"
	case d.level != "" && t.Weir == "":
		return "this tree has no cmd/weir"
	}
	return ""
}

// site is the environment of a door for one pass.
type site struct {
	dir            string // for its configuration and log; removed after the pass
	log, level     string
	port, upstream int
	figures        int // a port for figures about itself
}

func (s site) file(name string) string { return filepath.Join(s.dir, name) }

func (s site) write(name, text string) (string, error) {
	file := s.file(name)
	return file, os.WriteFile(file, []byte(text), 0o644)
}

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// caddyDoor disables admin and certificates, and sets a pool of upstream connections as large as the others'.
func caddyDoor(t Tools, s site) (command, error) {
	file, err := s.write("Caddyfile", fmt.Sprintf(`{
	admin off
	auto_https off
	persist_config off
	grace_period 1s
	log {
		output stderr
		level WARN
	}
}
http://%s {
	bind 127.0.0.1
	log {
		output file %s {
			roll_disabled
		}
		format json
	}
	reverse_proxy %s {
		transport http {
			keepalive_idle_conns_per_host 256
			compression off
		}
	}
}
`, local(s.port), s.log, local(s.upstream)))
	return command{
		args: []string{t.Caddy, "run", "--adapter", "caddyfile", "--config", file},
		env:  []string{"HOME=" + s.dir, "XDG_DATA_HOME=" + s.dir, "XDG_CONFIG_HOME=" + s.dir},
	}, err
}

func weirDoor(t Tools, s site) (command, error) {
	file, err := s.write("weir.yaml", fmt.Sprintf(`listen: ["%s"]
admin: "%s"
log: {to: "%s", level: %s}
upstreams:
  backend: {servers: ["http://%s"]}
routes:
  - {match: "/{path...}", to: backend}
`, local(s.port), local(s.figures), s.log, s.level, local(s.upstream)))
	return command{args: []string{t.Weir, "serve", "--config", file}}, err
}

func reverseProxyDoor(t Tools, s site) (command, error) {
	return command{args: []string{
		t.ReverseProxy, "-listen", local(s.port), "-figures", local(s.figures), "-log", s.log, "-to", "http://" +
			local(s.upstream),
	}}, nil
}

func serverDoor(t Tools, s site) (command, error) {
	return command{args: []string{t.ReverseProxy, "-listen", local(s.port), "-figures", local(s.figures)}}, nil
}
