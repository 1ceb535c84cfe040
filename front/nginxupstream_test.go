package front_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// runNginx runs nginx with a section "server" until the end of the test. The section may refer
// to files in the folder.
func runNginx(t *testing.T, folder, address, server string) {
	t.Helper()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skipf("needs nginx: %v", err)
	}
	file := filepath.Join(folder, "nginx.conf")
	text := fmt.Sprintf("worker_processes 1; events {} http { access_log off; client_body_temp_path body;\n%s\n}\n", server)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{folder, filepath.Dir(folder)} { // the workers of nginx have another user
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	cmd := exec.Command("nginx", "-p", folder, "-c", file, "-g", "daemon off; pid nginx.pid; error_log stderr;")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("nginx:\n%s", out.String())
		}
	})
	testkit.AwaitListener(t, address)
}

// TestNginxAcceptsTLSOfTheDoor connects to nginx over TLS. nginx has the requested host only for the
// name in tls.name, and wants a client certificate.
func TestNginxAcceptsTLSOfTheDoor(t *testing.T) {
	t.Parallel()
	root, folder, address := certtest.Root(t, "root"), t.TempDir(), peer.FreeAddress(t)
	root.Issue(t, certtest.Options{Hosts: []string{"site.internal"}}).Write(t, folder, "site")
	root.Issue(t, certtest.Options{Hosts: []string{"other.internal"}}).Write(t, folder, "other")
	root.Write(t, folder, "root")
	runNginx(t, folder, address, strings.ReplaceAll(`
		ssl_protocols TLSv1.2 TLSv1.3;
		server {
			listen ADDRESS ssl;
			server_name other.internal;
			ssl_certificate other.pem; ssl_certificate_key other.key;
			return 421;
		}
		server {
			listen ADDRESS ssl;
			server_name site.internal;
			ssl_certificate site.pem; ssl_certificate_key site.key;
			ssl_client_certificate root.pem; ssl_verify_client on;
			return 200 "$ssl_server_name $ssl_client_s_dn $ssl_protocol $request_uri";
		}`, "ADDRESS", address))
	client := root.Issue(t, certtest.Options{Name: "weir", Client: true}).TLS()
	for _, c := range []struct {
		name        string
		certificate *tls.Certificate
		status      int
		body        string
	}{
		{"with a certificate", client, 200, "site.internal CN=weir TLSv1.3 /a?b"},
		{"without a certificate", nil, 400, "No required SSL certificate was sent"},
	} {
		d := openDoor(t, "https://"+address, func(cfg *config.Config) {
			cfg.Upstreams[0].TLS = &upstreams.TLS{Roots: []*x509.Certificate{root.Cert}, Name: "site.internal",
				Certificate: c.certificate}
			cfg.Routes[0].RequestHeaders.Set = []edits.Field{{Name: "Host", Value: "site.internal"}}
		})
		if status, body := fetch(t, d.url("/a?b")); status != c.status || !strings.Contains(body, c.body) {
			t.Errorf("%s: %d, %q, want %d, %q", c.name, status, body, c.status, c.body)
		}
	}
}

// TestNginxGoAwayFailsNoRequest sends 200 requests in a second, then 200 at once, with and without a
// body, to a nginx that ends each connection with GOAWAY after 20 requests. None fails.
func TestNginxGoAwayFailsNoRequest(t *testing.T) {
	t.Parallel()
	service := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Method, " ", n, " ", err)
	})
	address := peer.FreeAddress(t)
	runNginx(t, t.TempDir(), address, fmt.Sprintf(`
		server {
			listen %s http2;
			keepalive_requests 20;
			location / { proxy_pass %s; add_header Connection-Number $connection; }
		}`, address, service.URL))
	d := openDoor(t, "http://"+address, withHTTP2)
	c := httpClient(t)
	var all sync.WaitGroup
	var connections sync.Map
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for i := range 400 {
		if i < 200 {
			<-pace.C
		}
		all.Go(func() {
			method, size := "GET", 0
			if i%3 == 0 {
				method, size = "POST", []int{1, 3000, 16_000}[i/3%3]
			}
			r, err := http.NewRequest(method, d.url("/"), bytes.NewReader(make([]byte, size)))
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := c.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			connections.Store(resp.Header.Get("Connection-Number"), true)
			body, err := io.ReadAll(resp.Body)
			if want := fmt.Sprint(method, " ", size, " <nil>"); err != nil || resp.StatusCode != 200 || string(body) != want {
				t.Errorf("%s, %q, %v, want %q", resp.Status, body, err, want)
			}
		})
	}
	all.Wait()
	n := 0
	connections.Range(func(any, any) bool { n++; return true })
	if n < 10 {
		t.Errorf("nginx has had %d connections, want at least 10: it has sent no GOAWAY", n)
	}
}
