// Package proxy compares whole front doors: the CPU time of the proxy's processes per request that a load generator
// completed, including its log to a file, its garbage collector and its system calls.
package proxy

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// A Door is one proxy with its settings for the comparison.
type Door struct {
	Name string
	Note string
	// Lines is the number of log lines per request. A pass with fewer lines is invalid,
	// unless the door is lossy.
	Lines int

	works kind // the set of kinds of work in which it is compared
	lossy bool // drops lines while its log cannot be written; the table shows how many
	null  bool // its log is /dev/null instead of a file of the pass
	// the lowest level and the events that Weir writes; the others have no such settings here
	level, events string
	engine        string // of Weir; "" is its default
	route         string // more keys of the route of Weir
	// path that reports its allocations, on the port for figures; may be empty
	mallocs string
	command func(t Tools, s site) (command, error) // writes the configuration to s.dir
}

// The names of the doors.
const (
	Relay        = "relay"
	Nginx        = "nginx"
	HAProxy      = "haproxy"
	Pingora      = "pingora"
	ReverseProxy = "httputil.ReverseProxy"
	Caddy        = "caddy"
	Weir         = "weir"
	WeirOne      = "weir, one event"
	WeirNull     = "weir to /dev/null"
	WeirSilent   = "weir without events"
	WeirRoutines = "weir, goroutines"
	WeirBase     = "weir, base build"
	ServerOnly   = "net/http's server"
)

// Doors are the doors of the comparison.
var Doors = []Door{
	{Name: Relay, Note: "C, parses nothing, no log", works: mainKind | fileKind | offKind | fixedKind | bodiesKind,
		command: relayDoor},
	{Name: Nginx, Note: "one line for a request", Lines: 1, works: closedLoop | fixedKind | bodiesKind | idleKind | tlsKind | http2Kind | http2OffKind | filesKind,
		command: nginxDoor},
	{Name: HAProxy, Note: "one line for a request", Lines: 1, lossy: true,
		works: closedLoop | fixedKind | bodiesKind | idleKind | http2Kind | http2OffKind, command: haproxyDoor},
	{Name: Pingora, Note: "one line for a request", Lines: 1, works: closedLoop | fixedKind | bodiesKind,
		command: pingoraDoor},
	{Name: ReverseProxy, Note: "zerolog, three lines", Lines: 3, works: closedLoop, mallocs: "/",
		command: reverseProxyDoor},
	{Name: Caddy, Note: "one line for a request", Lines: 1, works: closedLoop | http2Kind | http2OffKind | filesKind,
		command: caddyDoor},
	{Name: Weir, Note: "three lines", Lines: 3, lossy: true,
		works: closedLoop&^offKind | fixedKind | bodiesKind | idleKind | tlsKind | http2Kind, level: "info", events: "all",
		mallocs: "/metrics", command: weirDoor},
	{Name: WeirOne, Note: "one line for a request", Lines: 1, lossy: true, works: closedLoop&^offKind | fixedKind | tlsKind | http2Kind | filesKind,
		level: "info", events: "completed", mallocs: "/metrics", command: weirDoor},
	{Name: WeirRoutines, Note: "three lines, a goroutine for each connection", Lines: 3, lossy: true, works: mainKind | tlsKind | http2Kind,
		level: "info", events: "all", engine: "goroutines", mallocs: "/metrics", command: weirDoor},
	{Name: WeirBase, Note: "three lines, the executable of -base", Lines: 3, lossy: true, works: mainKind,
		level: "info", events: "all", mallocs: "/metrics", command: weirBaseDoor},
	{Name: WeirNull, Note: "three lines, thrown away", works: mainKind, null: true, level: "info", events: "all",
		mallocs: "/metrics", command: weirDoor},
	{Name: WeirSilent, Note: "level error", works: mainKind | offKind | http2OffKind, level: "error", events: "all",
		mallocs: "/metrics", command: weirDoor},
	{Name: ServerOnly, Note: "responds itself: no upstream, no log", works: mainKind, mallocs: "/", command: serverDoor},
}

// Tools are the paths of the programs that the comparison runs. An empty one is missing.
type Tools struct {
	Nginx, HAProxy, Pingora, Caddy, Relay, Weir, WeirBase, ReverseProxy string
}

// Missing returns why the door cannot run with these tools, or "" if it can.
func (d Door) Missing(t Tools) string {
	switch {
	case d.Name == Relay && t.Relay == "":
		return "it needs a C compiler: apt-get install gcc libc6-dev"
	case d.Name == HAProxy && t.HAProxy == "":
		return "install it with: apt-get install haproxy"
	case d.Name == Pingora && t.Pingora == "":
		return "build it with cargo, in the repository's root: make .bench/bin/pingora-door"
	case d.Name == Caddy && t.Caddy == "":
		return "install it in the repository's root with: GOBIN=$PWD/.bench/bin go install " +
			"github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9"
	case d.Name == WeirBase && t.WeirBase == "":
		return "give an older executable of Weir to -base"
	case d.level != "" && t.Weir == "":
		return "this tree has no cmd/weir"
	}
	return ""
}

// Fits reports whether the door is compared in w.
func (d Door) Fits(w Work) bool { return d.works&w.kind() != 0 }

// site is the environment of a door for one pass.
type site struct {
	dir            string // for its configuration and log; removed after the pass
	log            string // a file, stdout or off
	level, events  string
	engine         string
	route          string
	work           Work
	cert, key      string // files, for work with TLS
	files          string // the folder of the files, for work with Files
	port, upstream int
	figures        int // a port for figures about itself
}

func (s site) file(name string) string { return filepath.Join(s.dir, name) }

func (s site) write(name, text string) (string, error) {
	file := s.file(name)
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// The destinations of a log that are not files.
const (
	noLog  = "off"
	stdout = "stdout"
)

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// caddyDoor disables admin and certificates, and sets a pool of upstream connections as large as the others'.
func caddyDoor(t Tools, s site) (command, error) {
	log := ""
	if s.log != noLog {
		output := stdout
		if s.log != stdout {
			output = fmt.Sprintf("file %s {\n\t\t\troll_disabled\n\t\t}", s.log)
		}
		log = fmt.Sprintf("\tlog {\n\t\toutput %s\n\t\tformat json\n\t}", output)
	}
	handler := fmt.Sprintf(`	reverse_proxy %s {
		transport http {
			keepalive_idle_conns_per_host %d
			compression off
		}
	}`, local(s.upstream), s.idle())
	if s.work.Files {
		handler = fmt.Sprintf("\troot * %s\n\tfile_server", s.files)
	}
	file, err := s.write("Caddyfile", fmt.Sprintf(`{
	admin off
	auto_https off
	persist_config off
	grace_period 1s
	log {
		output stderr
		level WARN
	}
	servers {
		protocols h1 h2c
	}
}
http://%s {
	bind 127.0.0.1
%s
%s
}
`, local(s.port), log, handler))
	return command{
		args: []string{t.Caddy, "run", "--adapter", "caddyfile", "--config", file},
		env:  []string{"HOME=" + s.dir, "XDG_DATA_HOME=" + s.dir, "XDG_CONFIG_HOME=" + s.dir},
	}, err
}

// origin is the URL of the door, without a path.
func (s site) origin() string {
	if s.work.hasTLS() {
		return "https://" + local(s.port)
	}
	return "http://" + local(s.port)
}

func weirDoor(t Tools, s site) (command, error) {
	if s.log == noLog {
		s.log = stdout // level error: it writes nothing
	}
	engine := ""
	if s.engine != "" { // which the executable of -base may not know
		engine = "engine: " + s.engine + "\n"
	}
	listen := fmt.Sprintf("listen: [%q]", local(s.port))
	if s.work.hasTLS() {
		listen = fmt.Sprintf("tls: {listen: [%q], certificates: {cert: %q, key: %q}}", local(s.port), s.cert, s.key)
	}
	action := "to: backend"
	if s.work.Files {
		action = fmt.Sprintf("files: {root: %q}", s.files)
	}
	var routes strings.Builder
	for _, path := range s.work.routes() {
		fmt.Fprintf(&routes, "  - {match: \"%s/{path...}\", %s%s}\n", path, action, s.route)
	}
	file, err := s.write("weir.yaml", fmt.Sprintf(`%s
admin: "%s"
%slog: {to: "%s", level: %s, events: %s}
upstreams:
  backend: {servers: ["http://%s"]}
routes:
%s`, listen, local(s.figures), engine, s.log, s.level, s.events, local(s.upstream), &routes))
	return command{args: []string{t.Weir, "serve", "--config", file}}, err
}

func weirBaseDoor(t Tools, s site) (command, error) {
	t.Weir = t.WeirBase
	return weirDoor(t, s)
}

func reverseProxyDoor(t Tools, s site) (command, error) {
	return command{args: []string{
		t.ReverseProxy, "-listen", local(s.port), "-figures", local(s.figures), "-log", s.log, "-idle",
		strconv.Itoa(s.idle()), "-to", "http://" + local(s.upstream),
	}}, nil
}

// idle is the number of idle upstream connections that a door keeps.
func (s site) idle() int { return max(256, s.work.Connections) }

// haproxyDoor leaves the number of threads at HAProxy's default, one for each processor. It writes lines only to its
// stdout, to sockets and to rings; the bench connects stdout to the file or the pipe.
func haproxyDoor(t Tools, s site) (command, error) {
	log := ""
	if s.log != noLog {
		log = "log stdout format raw local0 info"
	}
	protocol := ""
	if s.work.Streams > 0 {
		protocol = " proto h2"
	}
	file, err := s.write("haproxy.cfg", fmt.Sprintf(`global
	%s
defaults
	mode http
	log global
	option forwardfor
	timeout connect 5s
	timeout client 1m
	timeout server 1m
frontend front-door
	bind %s%s
	unique-id-format %%[uuid]
	unique-id-header X-Request-Id
	http-request set-header X-Forwarded-Host %%[req.hdr(host)]
	http-request set-header X-Forwarded-Proto http
	http-response set-header X-Request-Id %%[unique-id]
	log-format '{"created_at":%%Ts.%%ms,"namespace":"front-door","event":"http request completed","trace_id":"%%ID",`+
		`"severity":3,"http":{"status_code":%%ST,"method":"%%HM","scheme":"http","path":%%{+Q}HP,"query":%%{+Q}HQ,`+
		`"duration":%%Ta,"response_content_length":%%B,"client":"%%ci","protocol":"%%HV"},`+
		`"data":{"destination":"%%si:%%sp","proxy_name":"%%b"}}'
	default_backend backend
backend backend
	server backend %s
`, log, local(s.port), protocol, local(s.upstream)))
	return command{args: []string{t.HAProxy, "-db", "-f", file}, logsToStdout: true}, err
}

// pingoraDoor runs the program of bench/peers/pingora with a thread for each processor.
func pingoraDoor(t Tools, s site) (command, error) {
	return command{args: []string{t.Pingora, local(s.port), local(s.upstream), strconv.Itoa(runtime.NumCPU()), s.log}},
		nil
}

func relayDoor(t Tools, s site) (command, error) {
	return command{args: []string{t.Relay, strconv.Itoa(s.port), strconv.Itoa(s.upstream),
		strconv.Itoa(runtime.NumCPU())}}, nil
}

func serverDoor(t Tools, s site) (command, error) {
	return command{args: []string{t.ReverseProxy, "-listen", local(s.port), "-figures", local(s.figures)}}, nil
}
