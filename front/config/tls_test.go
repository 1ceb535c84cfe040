package config_test

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
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

// parseIn parses a configuration in a folder.
func parseIn(folder, src string) (*config.Config, error) {
	return config.Parse(filepath.Join(folder, "weir.yaml"), []byte(src), nil)
}

func TestParseRedirectAndHSTS(t *testing.T) {
	folder := tlsFolder(t)
	for text, want := range map[string]config.TLS{
		"redirect: true, hsts: 365d":                   {Redirect: 443, HSTS: &config.HSTS{MaxAge: 365 * 24 * time.Hour}},
		"redirect: true, listen: ':8443'":              {Redirect: 8443},
		"redirect: 9443, listen: ':8443'":              {Redirect: 9443},
		"redirect: true, listen: systemd/https.socket": {Redirect: 443},
		"redirect: false":                              {},
		"hsts: {max_age: 31536000s, subdomains: true, preload: true}": {
			HSTS: &config.HSTS{MaxAge: 365 * 24 * time.Hour, Subdomains: true, Preload: true}},
	} {
		c, err := parseIn(folder, "listen: ':80'\ntls: {certificates: {cert: both.pem}, "+text+"}\n"+smallest)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, config.TLS{Redirect: c.TLS.Redirect, HSTS: c.TLS.HSTS}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestPlainHTTPWithoutRedirect(t *testing.T) {
	ms := mistakes(t, "upstreams: {a: {servers: http://a}}\nroutes: [{match: /, to: a, plain_http: true}]\n", nil)
	mistaketest.Want(t, ms, []string{`2:28 plain_http has no effect|tls: {redirect: true}`})
}

func TestPlainListenersBesideTLS(t *testing.T) {
	folder := tlsFolder(t)
	const certificates = "certificates: {cert: both.pem}"
	c, err := parseIn(folder, "listen: ':80'\ntls: {"+certificates+"}\n"+smallest)
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

func TestMistakesInTLS(t *testing.T) {
	folder := tlsFolder(t)
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"the port of plain requests", "listen: [':80', '127.0.0.1:443']\ntls: {certificates: {cert: both.pem}}\n",
			[]string{`1:17 the listener "127.0.0.1:443" and the listener of tls ":443" have the same port`}},
		{"the port of the admin listener", "tls: {certificates: {cert: both.pem}, listen: ':20001'}\n",
			[]string{`1:47 the listener of tls ":20001" and the admin listener`}},
		{"a redirect without plain listeners", "tls: {certificates: {cert: both.pem}, redirect: true}\n",
			[]string{`1:49 redirect has no effect|listen: ":80"`}},
		{"redirects", "listen: ':80'\ntls: {certificates: {cert: both.pem}, redirect: https}\n",
			[]string{`2:49 "https"|true|443`}},
		{"hsts", "tls: {certificates: {cert: both.pem}, hsts: {max_age: 31536000, subdomains: 1}}\n",
			[]string{`1:55 "31536000" is a number without a unit`, `1:77 "1"`}},
		{"hsts without an age", "tls: {certificates: {cert: both.pem}, hsts: {subdomains: true}}\n",
			[]string{`1:39 "hsts" has no "max_age"|365d`}},
		{"a part of a second", "tls: {certificates: {cert: both.pem}, hsts: 1500ms}\n",
			[]string{`1:45 "1500ms" is not an age`}},
		{"preload", "tls: {certificates: {cert: both.pem}, hsts: {max_age: 364d, subdomains: true, preload: true}}\n",
			[]string{`1:88 preload needs subdomains and a max_age`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseIn(folder, c.src+smallest)
			mistaketest.Want(t, err, c.want)
		})
	}
}

func TestSubjectHeaderOfRoutes(t *testing.T) {
	folder := tlsFolder(t)
	_, err := parseIn(folder, `
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
