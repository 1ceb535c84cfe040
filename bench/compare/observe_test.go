package compare

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// files are in the folder of every door.
var files = map[string]string{
	"public/a.txt": "hello from a file\n", "public/a.txt.gz": "precompressed", "public/index.html": "the index",
	"public/large.txt": strings.Repeat("a line of text that compresses well\n", 400),
	"public/404.html":  "not here, sorry",
	"more/a.yaml":      "routes: [{match: /a, to: a}]\n", "more/a.conf": "location / { proxy_pass http://a; }\n",
	"more/a.caddy": "reverse_proxy {a}\n", "users.htpasswd": "ann:" + annHash + "\n",
	"redirects.csv": "/old,/new,301\n", "redirects.map": "/old /new;\n", "redirects.txt": "/old /new\n",
	"redirects.caddy": "redir /old /new 301\n", "loop.csv": "/a,/b\n/b,/a\n",
}

// A service is a server that the doors proxy to. Its response names it and repeats the request.
type service struct {
	name, addr string
	requests   atomic.Int64
	inFlight   atomic.Int64
	most       atomic.Int64 // the most requests in flight
	failing    atomic.Bool  // responds with 503
}

func newService(t *testing.T, name string) *service {
	t.Helper()
	s := &service{name: name}
	server := httptest.NewUnstartedServer(s)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	s.addr = strings.TrimPrefix(server.URL, "http://")
	return s
}

// ServeHTTP responds after the time in the parameter sleep, with the status in the parameter status, and with as many
// bytes as the parameter size says.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if n := s.inFlight.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.inFlight.Add(-1)
	if r.Header.Get("Upgrade") == "websocket" {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
		w.WriteHeader(http.StatusSwitchingProtocols)
		return
	}
	io.Copy(io.Discard, r.Body)
	if r.URL.Path == "/.cached" {
		w.Header().Set("Cache-Control", "max-age=60")
	}
	q := r.URL.Query()
	if pause, err := time.ParseDuration(q.Get("sleep")); err == nil {
		time.Sleep(pause)
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("X-Powered-By", "magic")
	if r.URL.Path == "/auth" && r.Header.Get("X-Token") != "right" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("X-User", "ann")
	if status, err := strconv.Atoi(q.Get("status")); err == nil {
		w.WriteHeader(status)
	} else if s.failing.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	fmt.Fprintf(w, "%s %s %s %s\n", s.name, r.Method, r.RequestURI, r.Proto)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(w, "> %s: %s\n", name, strings.Join(r.Header[name], ", "))
	}
	size, _ := strconv.Atoi(q.Get("size"))
	io.WriteString(w, strings.Repeat("text ", size/5))
}

// send sends a request, such as "GET /a?b X-Beta=1 Host=a.example", and returns the status, the fields and the body of
// the response as text. A request that fails has the text of the error.
func (d *door) send(t *testing.T, request string) string {
	t.Helper()
	c := d.dial(t)
	defer c.Close()
	return exchange(c, request)
}

// dial returns a connection to the program.
func (d *door) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", d.listen, patience)
	if err != nil {
		t.Error(err)
		return &net.TCPConn{}
	}
	c.SetDeadline(time.Now().Add(patience))
	return c
}

// exchange sends a request over a connection.
func exchange(c net.Conn, request string) string {
	words := strings.Split(request, " ")
	head, host := "", "example.com"
	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		if name == "Host" {
			host = value
			continue
		}
		head += name + ": " + strings.ReplaceAll(value, "_", " ") + "\r\n"
	}
	if words[0] == "POST" {
		head += "Content-Length: 0\r\n"
	}
	if _, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", words[0], words[1], host, head); err != nil {
		return err.Error()
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: words[0]})
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n", resp.StatusCode)
	resp.Header.Write(&b)
	body, err := io.ReadAll(resp.Body)
	fmt.Fprintf(&b, "\n%s", body)
	if err != nil {
		fmt.Fprintf(&b, "\n%v", err)
	}
	return b.String()
}

// responds sends requests and compares the responses. An exchange is written "GET / X-A=b -> 200; Vary: Origin; !magic":
// the response must begin with the first text, contain the others, and not contain those with an exclamation mark.
func responds(exchanges ...string) try {
	return func(t *testing.T, d *door) (string, bool) {
		for _, e := range exchanges {
			request, want, _ := strings.Cut(e, " -> ")
			got := d.send(t, request)
			for i, part := range strings.Split(want, "; ") {
				absent, isAbsent := strings.CutPrefix(part, "!")
				if i == 0 && !strings.HasPrefix(got, part) || !isAbsent && !strings.Contains(got, part) ||
					isAbsent && strings.Contains(got, absent) {
					return fmt.Sprintf("%s: want %s, got %.160q", request, part, got), false
				}
			}
		}
		return fmt.Sprintf("%d responses as expected", len(exchanges)), true
	}
}

// accepts is for a configuration that the program accepts; its effect is not tried.
func accepts(t *testing.T, d *door) (string, bool) { return "accepts the configuration", true }

// lists reports whether the program's own list of its parts has an expression.
func lists(pattern string) try {
	p := regexp.MustCompile(pattern)
	return func(t *testing.T, d *door) (string, bool) {
		cmd := exec.Command(d.path, d.list...)
		cmd.Dir = d.dir
		out, _ := cmd.CombinedOutput()
		if len(out) < 100 {
			t.Fatalf("%s %v prints only %q", d.path, d.list, out)
		}
		if found := p.Find(out); found != nil {
			return fmt.Sprintf("%s %s lists %s", d.name, d.list[0], found), true
		}
		return fmt.Sprintf("%s %s lists no %s", d.name, d.list[0], pattern), false
	}
}
