package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/certtest"
)

// TestUpstreamExamplesRun runs the examples of protocols of upstreams with real servers.
func TestUpstreamExamplesRun(t *testing.T) {
	t.Parallel()
	show := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Proto, " ", r.Host == "site.internal", " ", r.RequestURI)
	})
	folder, root := t.TempDir(), certtest.Root(t, "root")
	roots := filepath.Join(folder, "ca.pem")
	if err := os.WriteFile(roots, certtest.PEM(root.Cert), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "app.sock")
	unix := httptest.NewUnstartedServer(show)
	var err error
	unix.Listener.Close()
	if unix.Listener, err = net.Listen("unix", socket); err != nil {
		t.Fatal(err)
	}
	unix.Start()
	h2c := httptest.NewUnstartedServer(show)
	h2c.Config.Protocols = new(http.Protocols)
	h2c.Config.Protocols.SetUnencryptedHTTP2(true)
	h2c.Start()
	secure := httptest.NewUnstartedServer(show)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{
		*root.Issue(t, certtest.Options{Hosts: []string{"site.internal"}}).TLS()}}
	secure.StartTLS()
	for _, s := range []*httptest.Server{unix, h2c, secure} {
		t.Cleanup(s.Close)
	}
	for _, c := range []struct {
		example        string
		env            []string
		method, target string
		want           string
	}{
		{"unix", []string{"APP=unix:" + socket}, "GET", "/a?b", "HTTP/1.1 false /a?b"},
		{"unix", []string{"APP=unix:" + socket}, "GET", "/below/a", "HTTP/1.1 false /app/a"},
		{"grpc", []string{"SEARCH_URL=" + h2c.URL}, "POST", "/search.v1.Search/Find", "HTTP/2.0 false /search.v1.Search/Find"},
		{"https-upstream", []string{"SITE_URL=" + secure.URL, "ROOTS=" + roots}, "GET", "/a", "HTTP/1.1 true /a"},
	} {
		p := prepare(t, "serve", "--config", "../../examples/"+c.example+"/weir.yaml", "--listen", "127.0.0.1:0",
			"--admin", "off")
		p.cmd.Env = append(p.cmd.Env, c.env...)
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest(c.method, p.url()+c.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := do(t, client(t), req); a.StatusCode != 200 || a.body != c.want {
			t.Errorf("%s %s: %s, %q, want %q", c.example, c.target, a.Status, a.body, c.want)
		}
	}
}
