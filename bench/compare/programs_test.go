package compare

import (
	"bytes"
	"context"
	"crypto/tls"
	"debug/buildinfo"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
)

// patience is how long a program may take until it is ready, and for a response.
const patience = 30 * time.Second

// A configuration has the parts of a program's configuration that are about an aspect; configure writes the rest. They
// contain the names of addresses and files in braces: {listen}, {port}, {secure}, {admin}, {a}, {b}, {dead}, {dir}.
type configuration []string

// part returns a part, or "".
func (c configuration) part(i int) string {
	if i < len(c) {
		return c[i]
	}
	return ""
}

// A program is an installed front door.
type program struct {
	name, path, version string
	file                string // of its configuration
	configure           func(c configuration) string
	check               []string // arguments that check the file; nil if it has none
	run                 []string
	list                []string // arguments that print what it is built with
	rejected            string   // what it writes about a configuration that it rejects while it runs
}

// programs returns all programs, with the paths that are tried for each.
func programs(weirPath string) []*program {
	return []*program{
		{name: weir, path: weirPath, file: "weir.yaml", configure: weirFile, check: []string{"check", "weir.yaml"},
			run: []string{"serve", "--config", "weir.yaml"}, list: []string{"help"}},
		{name: nginx, path: "nginx", file: "nginx.conf", configure: nginxFile,
			check: []string{"-p", ".", "-c", "nginx.conf", "-e", "stderr", "-t"},
			run:   []string{"-p", ".", "-c", "nginx.conf", "-e", "stderr"}, list: []string{"-V"}},
		{name: caddy, path: "../../.bench/bin/caddy", file: "Caddyfile", configure: caddyFile,
			check: []string{"validate", "--adapter", "caddyfile", "--config", "Caddyfile"},
			run:   []string{"run", "--adapter", "caddyfile", "--config", "Caddyfile"}, list: []string{"list-modules"}},
		{name: traefik, path: "../../.bench/bin/traefik", file: "traefik.yaml", configure: traefikFile,
			run: []string{"--configfile=traefik.yaml"}, list: []string{"--help"}, rejected: " ERR "},
		{name: haproxy, path: "haproxy", file: "haproxy.cfg", configure: haproxyFile, check: []string{"-c", "-f", "haproxy.cfg"},
			run: []string{"-W", "-db", "-f", "haproxy.cfg"}, list: []string{"-dKall", "-q", "-c", "-f", "/dev/null"}},
	}
}

// versionArguments print a version, which versionPattern finds.
var versionArguments = map[string]string{weir: "version", nginx: "-v", caddy: "version", traefik: "version", haproxy: "-v"}

var versionPattern = regexp.MustCompile(`(?i)(?:version:? +|nginx/|^v|weir )v?([0-9(][^ \n]*)`)

// findPrograms returns the installed programs by name. Weir is built from this tree.
func findPrograms(t *testing.T) map[string]*program {
	t.Helper()
	weirPath := filepath.Join(t.TempDir(), "weir")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", weirPath, "./cmd/weir").CombinedOutput(); err != nil {
		t.Fatalf("build weir: %v\n%s", err, out)
	}
	found := map[string]*program{}
	for _, p := range programs(weirPath) {
		path, err := exec.LookPath(p.path)
		if err != nil {
			fmt.Printf("%s is not tried: %v\n", p.name, err)
			continue
		}
		if p.path, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(p.path, versionArguments[p.name]).CombinedOutput()
		if m := versionPattern.FindSubmatch(out); m != nil {
			p.version = string(m[1])
		} else if info, err := buildinfo.ReadFile(p.path); err == nil {
			p.version = info.Main.Version
		}
		found[p.name] = p
	}
	return found
}

// versions returns a line about the programs.
func versions(installed map[string]*program) string {
	line := "\nprograms:"
	for _, name := range programNames {
		if p := installed[name]; p != nil {
			line += fmt.Sprintf(" %s %s,", name, p.version)
		}
	}
	return strings.TrimSuffix(line, ",") + "\n"
}

func weirFile(c configuration) string {
	return "listen: \"{listen}\"\nadmin: \"{admin}\"\nlog: {to: weir.log}\n" + c.part(0)
}

func nginxFile(c configuration) string {
	return `daemon off; pid nginx.pid; worker_processes 1;
` + nginxUser() + `
events {}
http {
	access_log off;
	client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp; uwsgi_temp_path temp; scgi_temp_path temp;
	upstream a { server {a}; }
	upstream b { server {b}; }
	proxy_set_header Host $http_host;
	` + c.part(1) + `
	server {
		listen {listen};
		` + c.part(0) + `
	}
}
` + c.part(2)
}

// nginxUser makes workers of root read the folder of the configuration.
func nginxUser() string {
	if os.Geteuid() == 0 {
		return "user root root;"
	}
	return ""
}

func caddyFile(c configuration) string {
	return "{\n\tadmin {admin}\n\tauto_https off\n\tstorage file_system {dir}/caddy\n" + c.part(1) + "}\n" +
		"http://:{port} {\n\tbind 127.0.0.1\n" + c.part(0) + "\n}\n" + c.part(2)
}

// traefikFile returns the static configuration. Configure writes the dynamic one to a file of its own.
func traefikFile(c configuration) string {
	return `entryPoints: {web: {address: "{listen}", ` + c.part(2) + `}, admin: {address: "{admin}"}}
providers: {file: {directory: dynamic, watch: true}}
global: {checkNewVersion: false, sendAnonymousUsage: false}
log: {level: WARN, noColor: true}
` + c.part(1)
}

// traefikServices are the services that the dynamic configuration of traefik may use, and the router for ready.
const traefikServices = `http:
  services:
    a: {loadBalancer: {servers: [{url: "http://{a}"}]}}
    b: {loadBalancer: {servers: [{url: "http://{b}"}]}}
  routers:
    ready: {rule: 'Path("/.ready")', priority: 100000, entryPoints: [web], service: a}
`

func haproxyFile(c configuration) string {
	return `global
	stats socket {dir}/haproxy.sock mode 600 level admin expose-fd listeners
	` + c.part(2) + `
defaults
	mode http
	timeout connect 2s
	timeout client 20s
	timeout server 20s
frontend f
	bind {listen}
	` + c.part(0) + `
backend a
	server a {a}
backend b
	server b {b}
` + c.part(1) + "\n"
}

// A door is a program with a configuration, which may run.
type door struct {
	*program
	dir, listen, secure, admin, other string
	a, b                              *service
	ca                                *certtest.Pair
	pairs                             []string // the names in a configuration, and what replaces them
	names                             *strings.Replacer
	cmd                               *exec.Cmd
	ended                             chan struct{}
	output                            *output
}

// observe runs a program with a configuration for a try. A program that reports a mistake has the aspect if the words are
// the wanted ones. Without a configuration, nothing runs before the try.
func (p *program) observe(t *testing.T, c configuration, f try, wanted string) (observed string, has bool) {
	t.Helper()
	d := p.newDoor(t)
	if c != nil {
		d.write(t, c)
		words := d.checked(t)
		if words == "" {
			d.start(t)
			words = d.ready(t)
		}
		switch {
		case words != "":
			return "reports " + words, wanted != "" && regexp.MustCompile(wanted).MatchString(words)
		case wanted != "":
			return "accepts the configuration and reports nothing", false
		}
	}
	return f(t, d)
}

func (p *program) newDoor(t *testing.T) *door {
	t.Helper()
	dir, err := os.MkdirTemp("", "door") // a socket has a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &door{program: p, dir: dir, listen: peer.FreeAddress(t), secure: peer.FreeAddress(t),
		admin: peer.FreeAddress(t), other: peer.FreeAddress(t), a: newService(t, "a"), b: newService(t, "b"), output: &output{}}
	_, port, _ := net.SplitHostPort(d.listen)
	_, securePort, _ := net.SplitHostPort(d.secure)
	d.pairs = []string{"{listen}", d.listen, "{port}", port, "{secure}", d.secure, "{securePort}", securePort,
		"{admin}", d.admin, "{other}", d.other, "{a}", d.a.addr, "{b}", d.b.addr, "{dead}", peer.FreeAddress(t), "{dir}", d.dir,
		"{up}", fmt.Sprintf("upstreams: {a: {servers: [\"http://%s\"]}, b: {servers: [\"http://%s\"]}}", d.a.addr, d.b.addr)}
	d.names = strings.NewReplacer(d.pairs...)
	for name, text := range files {
		d.save(t, name, d.names.Replace(text))
	}
	d.ca = certtest.Root(t, "root")
	site := d.ca.Issue(t, certtest.Options{Hosts: []string{"shop.example", "localhost", "127.0.0.1"}})
	site.Write(t, d.dir, "site")
	d.startServices(t, site)
	d.save(t, "both.pem", string(append(certtest.PEM(site.Cert), site.KeyPEM(t)...)))
	d.save(t, "ca.pem", string(certtest.PEM(d.ca.Cert)))
	return d
}

// startServices starts a service with TLS at {tls} and one at a Unix socket.
func (d *door) startServices(t *testing.T, site *certtest.Pair) {
	t.Helper()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "over TLS")
	}))
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{*site.TLS()}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	d.names = strings.NewReplacer(append(d.pairs, "{tls}", strings.TrimPrefix(secure.URL, "https://"))...)
	l, err := net.Listen("unix", filepath.Join(d.dir, "service.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(d.dir, "service.sock"), 0o666); err != nil {
		t.Fatal(err)
	}
	local := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "over a socket") })}}
	local.Start()
	t.Cleanup(local.Close)
}

// save writes a file of the door's folder.
func (d *door) save(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// write writes the configuration.
func (d *door) write(t *testing.T, c configuration) {
	t.Helper()
	if d.name == traefik {
		d.save(t, "dynamic/services.yaml", d.names.Replace(traefikServices))
		d.save(t, "dynamic/aspect.yaml", d.names.Replace(c.part(0)))
	}
	d.save(t, d.file, d.names.Replace(d.configure(c)))
}

// checked returns the program's words about a mistake in the configuration, or "".
func (d *door) checked(t *testing.T) string {
	t.Helper()
	if d.check == nil {
		return ""
	}
	if out, err := d.runCheck(t); err != nil {
		return mistake(out)
	}
	return ""
}

// checkOutput returns everything that the check of the configuration writes. Traefik has no check: it writes its mistakes
// when it has started.
func (d *door) checkOutput(t *testing.T) string {
	t.Helper()
	if d.check != nil {
		out, _ := d.runCheck(t)
		return out
	}
	d.start(t)
	d.ready(t)
	return d.output.String()
}

func (d *door) runCheck(t *testing.T) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.path, d.check...)
	cmd.Dir, cmd.Env = d.dir, d.environment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// environment has a home in the folder, where caddy keeps its last configuration.
func (d *door) environment() []string {
	return append(os.Environ(), "HOME="+d.dir, "XDG_CONFIG_HOME="+d.dir)
}

// mistake returns the line of an output that says what is wrong.
func mistake(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, word := range []string{"[emerg]", "Error:", "ALERT", "error", "ERR"} {
		for _, l := range lines {
			if strings.Contains(l, word) {
				return strings.TrimSpace(l)
			}
		}
	}
	return lines[0]
}

// start starts the program. The end of the test ends it.
func (d *door) start(t *testing.T) {
	t.Helper()
	d.cmd = exec.Command(d.path, d.run...)
	d.cmd.Dir, d.cmd.Env = d.dir, d.environment()
	d.cmd.Stdout, d.cmd.Stderr = d.output, d.output
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd, ended := d.cmd, make(chan struct{})
	d.ended = ended
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
		}
		if t.Failed() {
			t.Logf("%s:\n%s", d.name, d.output)
		}
	})
}

// ready waits until the program serves. It returns the program's words about a mistake, or "".
func (d *door) ready(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		select {
		case <-d.ended:
			return mistake(d.output.String())
		default:
		}
		c, err := net.DialTimeout("tcp", d.listen, time.Second)
		if err == nil {
			c.Close()
		}
		serves := err == nil && (d.name != traefik || strings.HasPrefix(d.send(t, "GET /.ready"), "200"))
		if said := d.output.String(); d.rejected != "" && strings.Contains(said, d.rejected) {
			return mistake(said)
		}
		if serves {
			return ""
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not ready: %v\n%s", d.name, err, d.output)
		}
	}
}

// An output collects what a program writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
