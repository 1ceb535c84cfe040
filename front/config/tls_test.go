package config_test

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// tlsFolder makes a folder with a certificate and that of its issuer.
func tlsFolder(t *testing.T) (folder string) {
	t.Helper()
	folder, root := t.TempDir(), certtest.Root(t, "root")
	shop := root.Issue(t, certtest.Options{Name: "shop"})
	for name, src := range map[string][]byte{
		"ca.pem":   certtest.PEM(root.Cert),
		"both.pem": append(certtest.PEM(shop.Cert), shop.KeyPEM(t)...),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), src, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestPlainListenersStayBesideTLS(t *testing.T) {
	folder := tlsFolder(t)
	const certificates = "certificates: {cert: both.pem}"
	c, err := configtest.ParseIn(folder, "listen: ':80'\ntls: {"+certificates+"}\n"+smallest)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{":80", ":443"}, append(c.Listen, c.TLS.Listen...)); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if c.TLS.MinVersion != tls.VersionTLS12 {
		t.Errorf("MinVersion = %#x", c.TLS.MinVersion)
	}
}

func TestPortConflictsOfTLSAreReported(t *testing.T) {
	folder := tlsFolder(t)
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"the port of plain requests", "listen: [':80', '127.0.0.1:443']\ntls: {certificates: {cert: both.pem}}\n",
			[]string{`1:17 the listener "127.0.0.1:443" and the listener of tls ":443" have the same port`}},
		{"the port of the admin listener", "tls: {certificates: {cert: both.pem}, listen: ':20001'}\n",
			[]string{`1:47 the listener of tls ":20001" and the admin listener`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := configtest.ParseIn(folder, c.src+smallest)
			mistaketest.Want(t, err, c.want)
		})
	}
}

func TestRoutesCannotWriteSubjectHeader(t *testing.T) {
	folder := tlsFolder(t)
	_, err := configtest.ParseIn(folder, `
tls: {certificates: {cert: both.pem}, client_certificates: {roots: ca.pem}, subject_header: X-Client}
upstreams: {a: {servers: ["http://127.0.0.1:1"]}}
routes:
  - {match: /x, to: a, request_headers: {remove: [x_client]}}
  - {match: /y, to: a, forward_auth: {to: a, path: /auth, copy: [X-CLIENT]}}
  - {match: /z, to: a, request_headers: {set: {X-Other: a}}}
`)
	mistaketest.Want(t, err, []string{
		`2:93 "X-Client" is also written by request_headers of the route "/x"|choose another name`,
		`2:93 "X-Client" is also written by forward_auth of the route "/y"`,
	})
}
