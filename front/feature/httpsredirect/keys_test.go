package httpsredirect_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// withCertificate makes a folder with the certificate both.pem.
func withCertificate(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	shop := certtest.Root(t, "root").Issue(t, certtest.Options{Name: "shop"})
	src := append(certtest.PEM(shop.Cert), shop.KeyPEM(t)...)
	if err := os.WriteFile(filepath.Join(folder, "both.pem"), src, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// parse parses keys and a route in a folder.
func parse(folder, keys string) (*config.Config, error) {
	src := keys + "routes: [{match: /, respond: {status: 200}}]\n"
	return configtest.ParseIn(folder, src)
}

func TestRedirectPortAndHSTSAreParsed(t *testing.T) {
	folder := withCertificate(t)
	for text, want := range map[string]httpsredirect.Config{
		"redirect: true, hsts: 365d":                   {Redirect: 443, HSTS: &httpsredirect.HSTS{MaxAge: 365 * 24 * time.Hour}},
		"redirect: true, listen: ':8443'":              {Redirect: 8443},
		"redirect: 9443, listen: ':8443'":              {Redirect: 9443},
		"redirect: true, listen: systemd/https.socket": {Redirect: 443},
		"redirect: false":                              {},
		"hsts: {max_age: 31536000s, subdomains: true, preload: true}": {
			HSTS: &httpsredirect.HSTS{MaxAge: 365 * 24 * time.Hour, Subdomains: true, Preload: true}},
	} {
		c, err := parse(folder, "listen: ':80'\ntls: {certificates: {cert: both.pem}, "+text+"}\n")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, c.TLS.HTTPS); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestHTTPSRedirectMistakesAreReported(t *testing.T) {
	folder := withCertificate(t)
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
		{"a redirect without plain listeners", "tls: {certificates: {cert: both.pem}, redirect: true}\n",
			[]string{`1:49 redirect has no effect|listen: ":80"`}},
		{"redirects", "listen: ':80'\ntls: {certificates: {cert: both.pem}, redirect: https}\n",
			[]string{`2:49 "https"|true|443`}},
		{"no redirect", "listen: ':80'\ntls: {certificates: {cert: both.pem}, redirect: off}\n",
			[]string{`2:49 "off" is not known here|write false`}},
		{"a redirect to a listener with a mistake", "listen: ':80'\ntls: {listen: 8443, certificates: {cert: both.pem}, redirect: true}\n",
			[]string{`2:15 port without its colon`}},
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
			_, err := parse(folder, c.keys)
			mistaketest.Want(t, err, c.want)
		})
	}
	_, err := config.Parse("weir.yaml", []byte("routes: [{match: /, respond: {status: 200}, plain_http: true}]\n"), nil)
	mistaketest.Want(t, err, []string{`1:45 plain_http has no effect|tls: {redirect: true}`})
}
