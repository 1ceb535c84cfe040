package upstreams_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// upstreamWith is a configuration with keys of an upstream.
func upstreamWith(keys string) string {
	return "upstreams: {a: {servers: https://a, " + keys + "}}\nroutes: {match: /, to: a}\n"
}

// tlsFolder returns a folder with certificates, and the one that has issued them.
func tlsFolder(t *testing.T) (folder string, root *certtest.Pair) {
	t.Helper()
	folder, root = t.TempDir(), certtest.Root(t, "root")
	root.Issue(t, certtest.Options{Name: "shop"}).Write(t, folder, "shop")
	root.Issue(t, certtest.Options{Name: "other"}).Write(t, folder, "other")
	for name, src := range map[string][]byte{"ca.pem": certtest.PEM(root.Cert), "empty.pem": nil} {
		if err := os.WriteFile(filepath.Join(folder, name), src, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, root
}

func TestUpstreamTLSIsParsed(t *testing.T) {
	folder, root := tlsFolder(t)
	client := root.Issue(t, certtest.Options{Name: "weir", Client: true})
	client.Write(t, folder, "client")
	c, err := configtest.ParseIn(folder,
		upstreamWith("tls: {roots: ca.pem, cert: client.pem, key: client.key, name: App.internal}"))
	if err != nil {
		t.Fatal(err)
	}
	got := c.Upstreams[0].TLS
	if len(got.Roots) != 1 || !got.Roots[0].Equal(root.Cert) || got.Certificate == nil ||
		!got.Certificate.Leaf.Equal(client.Cert) || got.Name != "app.internal" {
		t.Errorf("TLS = %+v", got)
	}
	for _, name := range []string{"ca.pem", "client.pem", "client.key"} {
		if !slices.Contains(c.Sources, filepath.Join(folder, name)) {
			t.Errorf("%s is not among the sources %q", name, c.Sources)
		}
	}
	both := append(certtest.PEM(client.Cert), client.KeyPEM(t)...)
	if err := os.WriteFile(filepath.Join(folder, "client-both.pem"), both, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = configtest.ParseIn(folder, upstreamWith("protocol: http2")); err != nil || !c.Upstreams[0].HTTP2 {
		t.Errorf("Parse: %v, want HTTP/2", err)
	}
	if c, err = configtest.ParseIn(folder, upstreamWith("protocol: http1")); err != nil || c.Upstreams[0].HTTP2 {
		t.Errorf("Parse: %v, want HTTP/1", err)
	}
	if c, err = configtest.ParseIn(folder, upstreamWith("tls: {cert: client-both.pem}")); err != nil {
		t.Fatal(err)
	}
	if got := c.Upstreams[0].TLS; got.Certificate == nil || got.Roots != nil {
		t.Errorf("TLS = %+v, want only a certificate", got)
	}
}

func TestUpstreamTLSMistakesAreReported(t *testing.T) {
	folder, root := tlsFolder(t)
	old := time.Now().Add(-100 * 24 * time.Hour)
	root.Issue(t, certtest.Options{Client: true, From: old, To: old.Add(time.Hour)}).Write(t, folder, "old-client")
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
		{"roots that are missing", "tls: {roots: no.pem}", []string{`1:50 no.pem": no such file`}},
		{"roots without a certificate", "tls: {roots: empty.pem}", []string{`1:50 it has no certificate in PEM format`}},
		{"a key without a certificate", "tls: {key: shop.key}", []string{`1:48 has no certificate|add cert`}},
		{"a certificate without a key", "tls: {cert: shop.pem}", []string{`1:49 has no private key`}},
		{"another key", "tls: {cert: shop.pem, key: other.key}", []string{`1:64 does not belong to the certificate`}},
		{"a name", "tls: {name: 'a b'}", []string{`1:49 "a b" is not the name of a server`}},
		{"no verification", "tls: {insecure_skip_verify: true}", []string{`1:43 always verified|roots`}},
		{"a protocol", "protocol: h2c", []string{`1:47 "h2c" is not a protocol|write http2`}},
		{"an unknown protocol", "protocol: http3", []string{`1:47 "http3" is not a protocol|http`}},
		{"shared connections", "protocol: http2, send_proxy_protocol: v1",
			[]string{`1:13 has both "protocol: http2" and "send_proxy_protocol"`}},
		{"the key of nginx", "ssl: true", []string{`1:37 unknown key "ssl"|https://`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := configtest.ParseIn(folder, upstreamWith(c.keys))
			mistaketest.Want(t, err, c.want)
		})
	}
	const plain = "upstreams: {a: {servers: http://a, tls: {name: b}}}\nroutes: {match: /, to: a}\n"
	_, err := configtest.ParseIn(folder, plain)
	mistaketest.Want(t, err, []string{`1:36 no https server that "tls" could concern|https://`})
	parsed, err := configtest.ParseIn(folder, upstreamWith("tls: {cert: old-client.pem, key: old-client.key}"))
	if err != nil {
		t.Fatal(err)
	}
	mistaketest.Want(t, parsed.Warnings, []string{`1:49 has expired on |servers do not accept it`})
}
