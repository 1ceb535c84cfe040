package main

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	stdlog "log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
)

// A seen is a request that a server received.
type seen struct {
	method, target, host, body string
	header                     http.Header
}

// witness is a server that records its requests and responds with five bytes.
type witness struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seen // guarded by mu
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.requests = append(w.requests, seen{r.Method, r.RequestURI, r.Host, string(body), r.Header})
		w.mu.Unlock()
		io.WriteString(rw, "hello")
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *witness) all() []seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests)
}

// TestLoadSendsWhatItsFlagsSay compares the flags with the requests that arrive.
func TestLoadSendsWhatItsFlagsSay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	data := file("data.txt", "from a file")
	targets := file("targets.txt", "GET http://one.example/a\nX-One: 1\n\nDELETE http://two.example/b?c=d\n")
	for _, c := range []struct {
		name  string
		args  []string // URL is replaced by the server's
		stdin string
		want  []seen // in any order; header lists required fields
	}{
		{"nothing", []string{"URL/x?y=z"}, "", []seen{{method: "GET", target: "/x?y=z"}}},
		{"a port without a scheme", []string{"HOST/x"}, "", []seen{{method: "GET", target: "/x"}}},
		{"a method and fields", []string{"-X", "PURGE", "-H", "X-One: 1, 2", "-H", "Host: a.example", "URL"}, "",
			[]seen{{method: "PURGE", target: "/", host: "a.example", header: http.Header{"X-One": {"1, 2"}}}}},
		{"a text", []string{"--body", "a=1, b=2", "URL"}, "", []seen{{method: "POST", target: "/", body: "a=1, b=2"}}},
		{"a file", []string{"-X", "PUT", "--body", "@" + data, "URL"}, "",
			[]seen{{method: "PUT", target: "/", body: "from a file"}}},
		{"stdin", []string{"--body", "@-", "URL"}, "from stdin",
			[]seen{{method: "POST", target: "/", body: "from stdin"}}},
		{"a growing path", []string{"--path-growth", "2", "URL/a"}, "",
			[]seen{{method: "GET", target: "/a"}, {method: "GET", target: "/a/0"}, {method: "GET", target: "/a/0/1"}}},
		{"templates", []string{"-H", "X-Seq: {{seq}}", "URL/{{rand 7 7}}"}, "",
			[]seen{{method: "GET", target: "/7", header: http.Header{"X-Seq": {"0"}}}}},
		{"a file of requests", []string{"--requests-file", targets, "--to", "URL", "-H", "X-All: 2"}, "", []seen{
			{method: "GET", target: "/a", header: http.Header{"X-One": {"1"}, "X-All": {"2"}}},
			{method: "DELETE", target: "/b?c=d", header: http.Header{"X-All": {"2"}}},
		}},
		{"requests from stdin", []string{"--requests-file", "-", "--to", "HOST"}, "http://one.example/q",
			[]seen{{method: "GET", target: "/q"}}},
		{"HTTP/1.1 without keep-alive", []string{"--no-keepalive", "URL"}, "",
			[]seen{{method: "GET", target: "/", header: http.Header{}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWitness(t)
			args := []string{"load", "-q", "-c", "1", "--threads", "1", "-n", fmt.Sprint(len(c.want))}
			for _, arg := range c.args {
				arg = strings.Replace(arg, "URL", w.URL, 1)
				args = append(args, strings.Replace(arg, "HOST", strings.TrimPrefix(w.URL, "http://"), 1))
			}
			p := prepare(t, args...)
			p.cmd.Stdin = strings.NewReader(c.stdin)
			if err := p.start(); err != nil {
				t.Fatal(err)
			}
			p.wait(0)
			got := w.all()
			if len(got) != len(c.want) {
				t.Fatalf("%d requests arrived, want %d: %+v", len(got), len(c.want), got)
			}
			for i, want := range c.want {
				want.check(t, got[i])
			}
			if out := output(t, p); out != "" || p.stderr.String() != "" {
				t.Errorf("-q says %q and %q", out, p.stderr.String())
			}
		})
	}
}

// check compares a received request with the wanted one.
func (want seen) check(t *testing.T, got seen) {
	t.Helper()
	if got.method != want.method || got.target != want.target || got.body != want.body ||
		want.host != "" && got.host != want.host {
		t.Errorf("got %s %s for %s with %q, want %s %s for %s with %q",
			got.method, got.target, got.host, got.body, want.method, want.target, want.host, want.body)
	}
	for name, values := range want.header {
		if !slices.Equal(got.header[name], values) {
			t.Errorf("got %s: %q, want %q", name, got.header[name], values)
		}
	}
}

// TestLoadFormIsParsedByServers parses the requests of --form as a server does.
func TestLoadFormIsParsedByServers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "photo.txt")
	if err := os.WriteFile(file, []byte("a photo"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan [2]string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, head, err := r.FormFile("photo")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		content, _ := io.ReadAll(f)
		got <- [2]string{r.FormValue("name"), head.Filename + ": " + string(content)}
	}))
	defer server.Close()
	start(t, "load", "-q", "-n", "1", "-c", "1", "-F", "name=a, b", "-F", "photo=@"+file, "--fail", "2xx < 100%",
		server.URL).wait(0)
	if form := testkit.Receive(t, "a form", got); form != [2]string{"a, b", "photo.txt: a photo"} {
		t.Errorf("the form is %q", form)
	}
}

// TestLoadVerifiesItsServer sends to a server with a self-signed certificate.
func TestLoadVerifiesItsServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	cert := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{nil, cli.ExitProblem},
		{[]string{"--insecure"}, cli.ExitOK},
		{[]string{"--cacert", cert, "--fail", "tls p99 > 1h"}, cli.ExitMisuse},
		{[]string{"--cacert", cert, "--fail", "tls p99 > 100s"}, cli.ExitOK},
		{[]string{"--cacert", cert, "--sni", "example.com"}, cli.ExitOK},
		{[]string{"--cacert", cert, "--sni", "other.invalid"}, cli.ExitProblem},
		{[]string{"--insecure", "--http2"}, cli.ExitOK},
	} {
		p := start(t, append([]string{"load", "-q", "-n", "4", "-c", "2", server.URL}, c.args...)...)
		p.wait(c.code)
		if said := p.stderr.String(); c.code == cli.ExitProblem &&
			!strings.Contains(said, "weir: hint: --cacert FILE ") {
			t.Errorf("%q: %q, want a hint on certificates", c.args, said)
		}
	}
}

// TestLoadSendsAClientCertificate sends to a server that requires a client certificate.
func TestLoadSendsAClientCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	own := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	both := filepath.Join(t.TempDir(), "both.pem")
	content := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	if err := os.WriteFile(both, content, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"load", "-q", "-k", "-n", "2", "-c", "1", server.URL}
	start(t, append(args, "--cert", both)...).wait(cli.ExitOK)
	start(t, append(args, "--cert", both, "--key", both)...).wait(cli.ExitOK)
	// The server names an authority that has not signed the client's certificate.
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, own.PrivateKey.(crypto.Signer).Public(), own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AddCert(authority)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		strict := httptest.NewUnstartedServer(server.Config.Handler)
		strict.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities, MaxVersion: version}
		strict.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
		strict.StartTLS()
		defer strict.Close()
		for _, cert := range [][]string{nil, {"--cert", both}} {
			p := start(t, append([]string{"load", "-q", "-k", "-n", "2", "-c", "1", strict.URL}, cert...)...)
			p.wait(cli.ExitProblem)
			said := p.stderr.String()
			if !strings.Contains(said, "weir: hint: does the server want a client certificate, of an authority that it trusts? ") ||
				cert != nil && strings.Contains(said, "certificate required") {
				t.Errorf("%s, %q: %q, want a hint on the certificate", tls.VersionName(version), cert, said)
			}
		}
	}
}

// TestLoadInterruptKeepsTheResult interrupts a run of an hour.
func TestLoadInterruptKeepsTheResult(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	p := start(t, "load", "-d", "1h", "-r", "100", "--json=-", w.URL)
	testkit.Await(t, "requests", func() bool { return len(w.all()) > 5 })
	p.signal(syscall.SIGINT)
	p.says("sending has stopped")
	p.wait(cli.ExitOK)
	var r load.Result
	if err := json.Unmarshal([]byte(output(t, p)), &r); err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || r.Requests == 0 || r.Requests != int64(len(w.all())) || r.Asked != r.Sent+r.Unsent {
		t.Errorf("interrupted: %v, %d responses to %d requests, of %d asked %d sent and %d not",
			r.Interrupted, r.Requests, len(w.all()), r.Asked, r.Sent, r.Unsent)
	}
}

// TestLoadInterruptBeforeTheStart interrupts a run whose setup thinks. It is no mistake of the command line, and neither
// is a setup that fails.
func TestLoadInterruptBeforeTheStart(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	flows := func(setup string) string {
		return testkit.TempFile(t, "flows.yaml", "setup: ["+setup+"]\nflows: [{name: a, steps: [{name: b, request: GET /}]}]\n")
	}
	p := start(t, "load", "--flows", flows("{name: in, request: GET /}, {name: wait, think: 1h, request: GET /}"), w.URL)
	testkit.Await(t, "the first request of the setup", func() bool { return len(w.all()) > 0 })
	p.signal(syscall.SIGINT)
	p.wait(cli.ExitInterrupted)
	p = start(t, "load", "--flows", flows("{name: in, request: GET /, expect: status 418}"), w.URL)
	p.says(`hint: the load begins when each step of the setup has had`)
	p.wait(cli.ExitProblem)
}

func TestLoadReportsAreCompleteOrMissing(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	if err := os.WriteFile(name("real.json"), []byte("an older and much longer result"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(name("real.json"), name("link.json")); err != nil {
		t.Fatal(err)
	}
	p := start(t, "load", "-n", "10", "-c", "1", "--json="+name("link.json"), "--csv", name("a.csv"), "--html",
		name("a.html"), "--hdr", os.DevNull, w.URL)
	p.wait(0)
	if out := output(t, p); !strings.Contains(out, "10") {
		t.Errorf("no report on stdout beside the files: %q", out)
	}
	content, err := os.ReadFile(name("real.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r load.Result
	if err := json.Unmarshal(content, &r); err != nil || r.Requests != 10 {
		t.Errorf("through the link: %v, %d responses", err, r.Requests)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s has become %v, %v", os.DevNull, info.Mode(), err)
	}
	start(t, "load", "-q", "-n", "10", "--csv", name("none.csv"), "--fail", "p99 > 1s",
		"http://127.0.0.1:1/").wait(cli.ExitProblem)
	left, err := filepath.Glob(name("*"))
	want := []string{name("a.csv"), name("a.html"), name("link.json"), name("real.json")}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("the directory has %q, %v, want %q", left, err, want)
	}
}
