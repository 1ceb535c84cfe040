package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// movers are the programs whose configurations examples/moving translates, except for
// Traefik, which Debian does not have. They run in the folder of the example.
var movers = []struct {
	name string
	args []string
}{
	{"nginx", []string{"-p", ".", "-c", "nginx.conf", "-g", "daemon off; pid nginx.pid; error_log nginx.log;"}},
	{"caddy", []string{"run", "--adapter", "caddyfile", "--config", "Caddyfile"}},
	{"haproxy", []string{"-db", "-f", "haproxy.cfg"}},
}

// A movingRequest is a request that weir and the other programs must respond to alike.
type movingRequest struct {
	method, host, target string
	fields               http.Header
	secure               bool     // over TLS
	want                 string   // the status, the compared fields and the body
	except               []string // programs that respond in another way, as their files say
}

// TestMovedConfigurationsRespondAlike runs the examples of docs/moving.md with weir and with the programs that they
// were written for, and compares the responses.
func TestMovedConfigurationsRespondAlike(t *testing.T) {
	t.Parallel()
	for name, requests := range map[string][]movingRequest{
		"site": {
			{target: "/", want: "200 site GET / X-Env="},
			{target: "/a/b?c=d&e=%20", want: "200 site GET /a/b?c=d&e=%20 X-Env="},
			{method: "POST", target: "/form", want: "200 site POST /form X-Env="},
			{target: "/healthz", want: "200 ok"},
			{target: "/old/42", want: "308 Location=/new/42"},
			{target: "/old/42?x=1", want: "308 Location=/new/42?x=1"},
			{target: "/old/42/more", want: "200 site GET /old/42/more X-Env="},
			{target: "/api/items?page=2", want: "200 X-Frame-Options=DENY api GET /items?page=2 X-Env=prod"},
			{method: "DELETE", target: "/api/items/7", want: "200 X-Frame-Options=DENY api DELETE /items/7 X-Env=prod"},
			{target: "/api/", want: "200 X-Frame-Options=DENY api GET / X-Env=prod"},
			{target: "/assets/site.css", except: []string{"haproxy"},
				want: "200 Cache-Control=public, max-age=3600 Content-Type=text/css body { color: #222 }"},
			{target: "/assets/site.js", except: []string{"haproxy"},
				want: "200 Cache-Control=public, max-age=3600 Content-Type=text/javascript console.log(\"shop\")"},
			{target: "/assets/none.css", except: []string{"haproxy"}, want: "404"},
			{target: "/assets/site.css", fields: http.Header{"Range": {"bytes=0-3"}}, except: []string{"haproxy"},
				want: "206 Cache-Control=public, max-age=3600 Content-Type=text/css body"},
		},
		"websocket": {
			{target: "/a", want: "200 site GET /a X-Env="},
			{target: "/ws", want: "101 echo"},
			{target: "/ws?room=1", want: "101 echo"},
		},
		"tenants": {
			{host: "shop.example", target: "/a?b=c", want: "301 Location=http://www.shop.example/a?b=c"},
			{host: "red.shop.example", target: "/a?b=c", want: "200 site GET /a?b=c X-Tenant=red"},
			{host: "www.shop.example:8080", target: "/", want: "200 site GET / X-Tenant=www"},
			{host: "BLUE.shop.example", target: "/", want: "200 site GET / X-Tenant=blue",
				except: []string{"haproxy", "caddy"}}, // they keep the case
			{host: "a.b.shop.example", target: "/", want: "404"},
			{host: "other.example", target: "/", want: "404"},
			{host: "red.shop.example", target: "/", fields: http.Header{"X-Tenant": {"blue"}},
				want: "200 site GET / X-Tenant=red"},
			{host: "staff.shop.example", target: "/", want: "401 Www-Authenticate=Basic"},
			{host: "staff.shop.example", target: "/", fields: basic("ann:wrong"), want: "401 Www-Authenticate=Basic"},
			{host: "staff.shop.example", target: "/", fields: basic("bob:secret"), want: "401 Www-Authenticate=Basic"},
			{host: "staff.shop.example", target: "/x", fields: basic("ann:secret"), want: "200 api GET /x X-Tenant="},
		},
		"https": {
			{host: "shop.example", target: "/a?b=c", want: "308 Location=https://shop.example/a?b=c"},
			{method: "POST", host: "shop.example", target: "/a", want: "308 Location=https://shop.example/a"},
			{host: "shop.example", target: "/a?b=c", secure: true,
				want: "200 Strict-Transport-Security=max-age=31536000 site GET /a?b=c X-Tenant="},
			{method: "POST", host: "shop.example", target: "/a", secure: true,
				want: "200 Strict-Transport-Security=max-age=31536000 site POST /a X-Tenant="},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkMovingDocs(t, name)
			services := movingServices(t)
			check := func(t *testing.T, program string, addr movingAddrs) {
				t.Helper()
				for _, r := range requests {
					if slices.Contains(r.except, program) {
						continue
					}
					if got := r.send(t, addr); got != r.want {
						t.Errorf("%s: %s %s%s %v:\n%s, want\n%s", program, r.method, r.host, r.target, r.fields, got, r.want)
					}
				}
			}
			t.Run("weir", func(t *testing.T) {
				folder, addr := movingFolder(t, name, services)
				p := start(t, "serve", "--config", filepath.Join(folder, "weir.yaml"), "--admin", "off")
				p.url()
				check(t, "weir", addr)
			})
			for _, m := range movers {
				t.Run(m.name, func(t *testing.T) {
					if _, err := exec.LookPath(m.name); err != nil {
						t.Skipf("needs %s: %v", m.name, err)
					}
					folder, addr := movingFolder(t, name, services)
					runMover(t, folder, addr.plain, m.name, m.args...)
					check(t, m.name, addr)
				})
			}
		})
	}
}

// checkMovingDocs checks that docs/moving.md shows the file of weir as it is.
func checkMovingDocs(t *testing.T, name string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/moving.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join("../../examples/moving", name, "weir.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```yaml\n"+string(file)+"```\n") {
		t.Errorf("docs/moving.md differs from examples/moving/%s/weir.yaml", name)
	}
}

func basic(userAndPassword string) http.Header {
	r := http.Request{Header: http.Header{}}
	user, password, _ := strings.Cut(userAndPassword, ":")
	r.SetBasicAuth(user, password)
	return r.Header
}

// movingServices starts the services of the examples. It returns their addresses by the
// address in the files.
func movingServices(t *testing.T) map[string]string {
	t.Helper()
	addrs := map[string]string{}
	for addr, name := range map[string]string{"127.0.0.1:9001": "site", "127.0.0.1:9002": "api", "127.0.0.1:9003": "api"} {
		s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Upgrade") == "websocket" {
				switchToEcho(t, w)
				return
			}
			w.Header().Set("X-Powered-By", "magic")
			w.Header().Set("Content-Type", "text/plain")
			if r.Header.Get("Authorization") != "" {
				fmt.Fprint(w, "authorized ")
			}
			fmt.Fprintf(w, "%s %s %s", name, r.Method, r.RequestURI)
			if strings.Contains(r.Host, "shop.example") {
				fmt.Fprintf(w, " X-Tenant=%s", strings.Join(r.Header["X-Tenant"], ","))
			} else {
				fmt.Fprintf(w, " X-Env=%s", strings.Join(r.Header["X-Env"], ","))
			}
		}))
		addrs[addr] = strings.TrimPrefix(s.URL, "http://")
	}
	return addrs
}

// switchToEcho switches to another protocol, in which it sends back all bytes. The key of the
// WebSocket handshake is that of movingRequest.send.
func switchToEcho(t *testing.T, w http.ResponseWriter) {
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer nc.Close()
	io.WriteString(nc, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
	io.Copy(nc, rw)
}

// movingAddrs are the addresses of the listeners of an example.
type movingAddrs struct{ plain, secure string }

// movingFolder copies an example and replaces its addresses by free ones. It adds a certificate
// in the formats of all programs.
func movingFolder(t *testing.T, name string, services map[string]string) (folder string, addr movingAddrs) {
	t.Helper()
	folder = t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("../../examples/moving", name))); err != nil {
		t.Fatal(err)
	}
	addr = movingAddrs{peer.FreeAddress(t), peer.FreeAddress(t)}
	_, port, _ := net.SplitHostPort(addr.plain)
	_, securePort, _ := net.SplitHostPort(addr.secure)
	pairs := []string{"127.0.0.1:8080", addr.plain, ":8080", ":" + port, ":8443", ":" + securePort}
	for from, to := range services {
		pairs = append(pairs, from, to)
	}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	shop := certtest.Root(t, "root").Issue(t, certtest.Options{Hosts: []string{"shop.example"}})
	shop.Write(t, folder, "shop")
	both := append(certtest.PEM(shop.Cert), shop.KeyPEM(t)...)
	if err := os.WriteFile(filepath.Join(folder, "shop-both.pem"), both, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{folder, filepath.Dir(folder)} { // the workers of nginx have another user
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder, addr
}

// runMover runs a program in a folder until the end of the test. It returns when the program
// listens.
func runMover(t *testing.T, folder, addr, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	var out text
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", name, out.String())
		}
	})
	testkit.Await(t, name, func() bool {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// send sends the request and returns the status, the compared fields and the body.
func (r movingRequest) send(t *testing.T, addrs movingAddrs) string {
	t.Helper()
	addr := addrs.plain
	if r.secure {
		addr = addrs.secure
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if r.secure {
		c = tls.Client(c, &tls.Config{ServerName: r.host, InsecureSkipVerify: true}) // each program has another root
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if r.method == "" {
		r.method = "GET"
	}
	if r.host == "" {
		r.host = "example.com"
	}
	upgrade := strings.HasPrefix(r.want, "101")
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n", r.method, r.target, r.host)
	for name, values := range r.fields {
		head += name + ": " + values[0] + "\r\n"
	}
	if upgrade {
		head += "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	}
	if r.method == "POST" {
		head += "Content-Length: 0\r\n"
	}
	if _, err := io.WriteString(c, head+"\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, &http.Request{Method: r.method})
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	got := fmt.Sprint(resp.StatusCode)
	if resp.StatusCode == http.StatusSwitchingProtocols {
		io.WriteString(c, "echo\n")
		line, err := in.ReadString('\n')
		if err != nil {
			return err.Error()
		}
		return got + " " + strings.TrimSpace(line)
	}
	for _, name := range []string{"Location", "Cache-Control", "Content-Type", "X-Frame-Options", "X-Powered-By",
		"Www-Authenticate", "Strict-Transport-Security"} {
		if value := resp.Header.Get(name); value != "" && r.compares(name, resp.StatusCode) {
			got += " " + name + "=" + r.comparable(name, value, addr)
		}
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err.Error()
	}
	if resp.StatusCode < 300 {
		got += " " + strings.TrimSpace(string(body))
	}
	return got
}

// compares reports whether a field of a response with the status is compared. The texts of
// errors, and their types, differ; so do those of fixed responses.
func (r movingRequest) compares(name string, status int) bool {
	switch name {
	case "Content-Type", "Cache-Control":
		return strings.HasPrefix(r.target, "/assets/") && status < 300
	case "X-Powered-By":
		return strings.HasPrefix(r.target, "/api/")
	}
	return true
}

// comparable returns the part of a value that all programs must send alike. nginx makes a
// Location absolute, which RFC 9110 section 10.2.2 allows.
func (r movingRequest) comparable(name, value, addr string) string {
	switch name {
	case "Location":
		_, port, _ := net.SplitHostPort(addr)
		return strings.TrimPrefix(strings.TrimPrefix(value, "http://"+r.host+":"+port), "http://"+r.host)
	case "Content-Type":
		value, _, _ = strings.Cut(value, ";")
	case "Www-Authenticate":
		value, _, _ = strings.Cut(value, " ")
	}
	return value
}
