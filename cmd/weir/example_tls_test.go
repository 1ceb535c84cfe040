package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// secureClient returns a client that connects to addr, whatever the host of a URL.
func secureClient(t *testing.T, addr string, config *tls.Config) *http.Client {
	t.Helper()
	c := client(t)
	transport := c.Transport.(*http.Transport)
	transport.TLSClientConfig = config
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// TestTLSExampleRuns makes the certificate of examples/tls by the command in its comment, runs the
// example, and sends requests with and without TLS.
func TestTLSExampleRuns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../examples/tls")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "weir.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?s)#   (openssl .*?)\n#\n`).FindStringSubmatch(string(text))
	if command == nil {
		t.Fatal("the example has no command of openssl")
	}
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(command[1], "\n#", "\n"))
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command[1], err, out)
	}
	plain, secure := peer.FreeAddress(t), peer.FreeAddress(t)
	changed := strings.NewReplacer("127.0.0.1:8080", plain, "127.0.0.1:8443", secure).Replace(string(text))
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "client "+r.Header.Get("X-Client-Subject"))
	}))
	p := prepare(t, "serve", "--config", file, "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "SITE_URL="+site.URL)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	p.url()

	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "site.pem"), filepath.Join(folder, "site.key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	visitor := secureClient(t, secure, &tls.Config{RootCAs: roots})
	if a := get(t, visitor, "https://localhost/"); a.StatusCode != 200 || a.body != "client " ||
		a.Header.Get("Strict-Transport-Security") != "max-age=3600" {
		t.Errorf("https: %s, %q, %v", a.Status, a.body, a.Header)
	}
	_, err = visitor.Get("https://admin.localhost/")
	if err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("admin without a certificate: %v", err)
	}
	staff := secureClient(t, secure, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}})
	if a := get(t, staff, "https://admin.localhost/"); a.StatusCode != 200 || a.body != "client CN=localhost" {
		t.Errorf("admin with a certificate: %s, %q", a.Status, a.body)
	}
	unprotected := secureClient(t, plain, nil)
	_, port, _ := net.SplitHostPort(secure)
	if a := get(t, unprotected, "http://localhost/a?b"); a.StatusCode != 308 ||
		a.Header.Get("Location") != "https://localhost:"+port+"/a?b" {
		t.Errorf("http: %s, %v", a.Status, a.Header)
	}
	if a := get(t, unprotected, "http://localhost/healthz"); a.StatusCode != 204 {
		t.Errorf("healthz: %s", a.Status)
	}
}

// TestACMEExampleRuns runs examples/acme with Pebble in place of Let's Encrypt.
func TestACMEExampleRuns(t *testing.T) {
	t.Parallel()
	plain, secure, root := peer.FreeAddress(t), peer.FreeAddress(t), certtest.Root(t, "root")
	port := func(addr string) int {
		_, text, _ := net.SplitHostPort(addr)
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	ca := peer.StartPebble(t, peer.PebbleOptions{HTTPPort: port(plain), TLSPort: port(secure), Root: root})
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../examples/acme")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "weir.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "    email:", "    roots: "+ca.RootsFile+"\n    email:", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Host)
	}))
	p := prepare(t, "serve", "--config", file, "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "SITE_URL="+site.URL, "HTTP="+plain, "HTTPS="+secure, "ACME_CA="+ca.Directory,
		"STORAGE="+filepath.Join(folder, "storage"), "DNS_API="+ca.DNSAPI)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	p.url()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.CA(t))
	c := secureClient(t, secure, &tls.Config{RootCAs: roots})
	for _, host := range []string{"example.com", "www.example.com", "red.shop.example.com"} {
		testkit.Await(t, "certificate of "+host, func() bool {
			req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+host+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := try(c, req)
			return err == nil && a.StatusCode == 200 && a.body == host
		})
	}
}
