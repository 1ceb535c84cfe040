package front_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/certtest"
)

// TestStepsRespondInTheirOrder sends requests to which several steps of a front door could respond, and checks which
// one does: the check of the request, a challenge, the redirect, the rules for clients, spelling, TRACE. That
// challenges of ACME come before the redirect and the rules for clients is visible in the certificates that the ACME
// server issues.
func TestStepsRespondInTheirOrder(t *testing.T) {
	t.Parallel()
	s, clients := newACMEServer(t), certtest.Root(t, "clients")
	domains := []string{"open.example", "staff.example"}
	a := &secure.ACME{HTTP: true, Domains: domains, Storage: filepath.Join(t.TempDir(), "acme")}
	d := openDoor(t, upstream(t, hello).URL, s.config(a), func(c *config.Config) {
		c.TLS.HTTPS.Redirect = 443
		c.TLS.ClientCertificates = []secure.ClientCertificates{
			{Hosts: []string{"staff.example"}, Roots: []*x509.Certificate{clients.Cert}}}
		restricted := config.DefaultRoute("/restricted/{path...}", "site")
		restricted.Access = []*access.Config{{Deny: parsePrefixes(t, "127.0.0.0/8")}}
		c.Routes = append(c.Routes, restricted)
	})
	for _, name := range domains {
		s.certificate(t, name)
	}
	for _, c := range []struct {
		name, head, host string
		secure           bool
		want             int
	}{
		{"invalid before a challenge", "GET /.well-known/acme-challenge/../x", "open.example", false, 400},
		{"invalid before the redirect", "GET /../x", "open.example", false, 400},
		{"invalid before the rules for clients", "GET /../x", "staff.example", true, 400},
		{"the redirect before the rules for clients", "GET /", "staff.example", false, 308},
		{"the redirect before spelling", "GET //restricted/x", "open.example", false, 308},
		{"the redirect before TRACE", "TRACE /", "open.example", false, 308},
		{"the rules for clients before spelling", "GET //restricted/x", "staff.example", true, 421},
		{"the rules for clients before TRACE", "TRACE /", "staff.example", true, 421},
		{"the rules for clients before the server as a whole", "OPTIONS *", "staff.example", true, 421},
		{"spelling before TRACE", "TRACE //restricted/x", "open.example", true, 400},
		{"TRACE before the route", "TRACE /restricted/x", "open.example", true, 405},
		{"the server as a whole before the route", "OPTIONS *", "open.example", true, 204},
		{"the route", "GET /restricted/x", "open.example", true, 403},
	} {
		head := c.head + " HTTP/1.1\r\nHost: " + c.host + "\r\n\r\n"
		status := 0
		if c.secure {
			status = s.ask(t, "open.example", head)
		} else {
			status, _ = plainRequest(t, d, head)
		}
		if status != c.want {
			t.Errorf("%s: %d, want %d", c.name, status, c.want)
		}
	}
}

// ask sends the head of a request over TLS, with a name in the handshake, and returns the status of the response.
func (s *acmeServer) ask(t *testing.T, name, head string) int {
	t.Helper()
	conn, err := tls.Dial("tcp", s.secure, &tls.Config{RootCAs: s.roots, ServerName: name})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
