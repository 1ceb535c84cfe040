package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// http3Folder copies examples/http3, with a certificate, the address of the upstream and a
// free address for the listener.
func http3Folder(t *testing.T, site string) (file, addr string, root *certtest.Pair, server *certtest.Pair) {
	t.Helper()
	text, err := os.ReadFile("../../examples/http3/weir.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	root = certtest.Root(t, "root")
	server = root.Issue(t, certtest.Options{})
	server.Write(t, folder, "site")
	addr, file = peer.FreeAddress(t), filepath.Join(folder, "weir.yaml")
	changed := strings.NewReplacer("127.0.0.1:8443", addr, "http://127.0.0.1:8080", site).Replace(string(text))
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, addr, root, server
}

// http3Client returns a client with connections of its own to an address.
func http3Client(t *testing.T, root *certtest.Pair, addr string) *http.Client {
	t.Helper()
	tr := &http3.Transport{
		TLSClientConfig: &tls.Config{RootCAs: root.Pool(), ServerName: "localhost"},
		Dial: func(ctx context.Context, _ string, tc *tls.Config, qc *quic.Config) (*quic.Conn, error) {
			return quic.DialAddr(ctx, addr, tc, qc)
		},
	}
	t.Cleanup(func() { tr.Close() })
	return &http.Client{Transport: tr, Timeout: patience}
}

// TestHTTP3ExampleRuns runs examples/http3. A client over TCP finds HTTP/3, and uses it.
func TestHTTP3ExampleRuns(t *testing.T) {
	t.Parallel()
	site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
	}))
	file, addr, root, _ := http3Folder(t, site.URL)
	start(t, "serve", "--config", file, "--admin", "off").says(`listening on (https://\S+)`)

	tcp := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: root.Pool()}}
	defer tcp.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tcp, Timeout: patience}).Get("https://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	_, port, _ := net.SplitHostPort(addr)
	if got, want := resp.Header.Get("Alt-Svc"), `h3=":`+port+`"; ma=86400`; got != want {
		t.Errorf("Alt-Svc is %q, want %q", got, want)
	}
	resp, err = http3Client(t, root, addr).Get("https://localhost")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "hello" || err != nil || resp.Proto != "HTTP/3.0" {
		t.Errorf("%q over %s, %v", body, resp.Proto, err)
	}
}

// http3Page reports the protocols by which the browser has loaded its parts.
const http3Page = `<!doctype html><script>
(async () => {
  const body = "x".repeat(200000)
  const echoed = await (await fetch("/echo", {method: "POST", body})).text()
  const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  await fetch("/results", {method: "POST", body: JSON.stringify({
    echoed: echoed == body, protocols: [...new Set(entries.map(e => e.nextHopProtocol))]})})
})()
</script>`

// TestBrowserUsesHTTP3 loads a page in Chromium, which uses HTTP/3 for it and for an upload.
func TestBrowserUsesHTTP3(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("this test loads a page in Chromium: install Debian's chromium")
	}
	type result struct {
		Echoed    bool
		Protocols []string
	}
	results := make(chan result, 1)
	site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, http3Page)
		case "/echo":
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			w.Write(body)
		case "/results":
			var got result
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			results <- got
		}
	}))
	file, addr, _, server := http3Folder(t, site.URL)
	start(t, "serve", "--config", file, "--admin", "off").says(`listening on (https://\S+)`)
	key := sha256.Sum256(server.Cert.RawSubjectPublicKeyInfo)
	ctx, kill := context.WithTimeout(t.Context(), 2*patience)
	defer kill()
	browser := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", "--enable-quic",
		"--origin-to-force-quic-on="+addr,
		"--ignore-certificate-errors-spki-list="+base64.StdEncoding.EncodeToString(key[:]), "https://"+addr)
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	defer browser.Wait()
	defer browser.Process.Signal(os.Interrupt) // so that all of its processes end
	select {
	case got := <-results:
		if !got.Echoed || len(got.Protocols) != 1 || got.Protocols[0] != "h3" {
			t.Errorf("the page reports %+v, want only h3", got)
		}
	case <-time.After(patience):
		t.Error("the page has no results")
	}
}
