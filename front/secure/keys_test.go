package secure_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// smallest is a configuration without TLS.
const smallest = "upstreams: {a: {servers: [http://127.0.0.1:8080]}}\nroutes: [{match: /, to: a}]\n"

// tlsFolder makes a folder with certificates and keys.
func tlsFolder(t *testing.T) (folder string, shop *certtest.Pair, root *certtest.Pair) {
	t.Helper()
	folder, root = t.TempDir(), certtest.Root(t, "root")
	shop = root.Issue(t, certtest.Options{Name: "shop", Hosts: []string{"shop.example"}})
	shop.Write(t, folder, "shop")
	root.Issue(t, certtest.Options{Name: "other"}).Write(t, folder, "other")
	old := time.Now().Add(-100 * 24 * time.Hour)
	root.Issue(t, certtest.Options{Name: "old", From: old, To: old.Add(time.Hour)}).Write(t, folder, "old")
	for name, src := range map[string][]byte{
		"ca.pem":    certtest.PEM(root.Cert),
		"both.pem":  append(certtest.PEM(shop.Cert), shop.KeyPEM(t)...),
		"order.pem": certtest.PEM(root.Cert, shop.Cert),
		"empty.pem": nil,
		"large.pem": make([]byte, 1<<20+1),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), src, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, shop, root
}

func TestTLSSettingsAreParsed(t *testing.T) {
	folder, shop, root := tlsFolder(t)
	c, err := configtest.ParseIn(folder, `
tls:
  listen: ["127.0.0.1:8443", systemd/https.socket]
  http3: true
  min_version: 1.3
  certificates: [{cert: shop.pem, key: shop.key}, {cert: both.pem}]
  client_certificates:
    - {hosts: [Admin.example, "*.partner.example"], roots: ca.pem}
    - {roots: ca.pem, required: false}
  subject_header: X-Client-Subject
`+smallest)
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	want := &config.TLS{Config: secure.Config{
		Listen:     []string{"127.0.0.1:8443", "systemd/https.socket"},
		HTTP3:      true,
		MinVersion: tls.VersionTLS13,
		Certificates: []secure.Certificate{
			{Cert: in("shop.pem"), Key: in("shop.key"), Leaf: shop.Cert},
			{Cert: in("both.pem"), Key: in("both.pem"), Leaf: shop.Cert},
		},
		SubjectHeader: "X-Client-Subject",
		ClientCertificates: []secure.ClientCertificates{
			{Hosts: []string{"admin.example", "*.partner.example"}, Roots: []*x509.Certificate{root.Cert}},
			{Roots: []*x509.Certificate{root.Cert}, Optional: true},
		},
	}}
	if diff := cmp.Diff(want, c.TLS); diff != "" {
		t.Errorf("TLS (-want +got):\n%s", diff)
	}
	if c.Listen != nil || len(c.Warnings) != 0 {
		t.Errorf("Listen = %q, Warnings = %v", c.Listen, c.Warnings)
	}
}

func TestACMESettingsAreParsed(t *testing.T) {
	folder, _, root := tlsFolder(t)
	parse := func(src string) *secure.ACME {
		t.Helper()
		c, err := configtest.ParseIn(folder, src+smallest)
		if err != nil {
			t.Fatal(err)
		}
		return c.TLS.ACME
	}
	want := &secure.ACME{Domains: []string{"example.com", "www.example.org"}, Directory: secure.LetsEncrypt, ALPN: true,
		Storage: filepath.Join(folder, "acme"), Hook: secure.Hook{Timeout: 2 * time.Minute}}
	if diff := cmp.Diff(want, parse("tls: {acme: {domains: [Example.com, www.example.org]}}\n")); diff != "" {
		t.Errorf("the defaults (-want +got):\n%s", diff)
	}
	want = &secure.ACME{Domains: []string{"*.example.com", "a.example"}, Directory: "https://ca.example/dir",
		Roots: []*x509.Certificate{root.Cert}, Email: "ops@example.com", Storage: "/var", HTTP: true, DNS: true,
		Hook: secure.Hook{Command: []string{filepath.Join(folder, "hook"), "-v", "-v"}, Timeout: time.Minute}}
	if err := os.WriteFile(filepath.Join(folder, "hook"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	got := parse(`
listen: ":80"
tls:
  acme:
    domains: ["*.example.com", a.example]
    email: ops@example.com
    ca: https://ca.example/dir
    roots: ca.pem
    challenges: [http-01, dns-01]
    dns: {hook: [./hook, -v, -v], timeout: 1m}
    storage: /var
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all keys (-want +got):\n%s", diff)
	}
	if a := parse("listen: ':80'\ntls: {acme: {domains: a}}\n"); !a.HTTP || !a.ALPN || a.DNS {
		t.Errorf("the challenges with a plain listener: %+v", a)
	}
	if a := parse("tls: {acme: {domains: '*.a', dns: {hook: sh}}}\n"); a.Hook.Command[0] != "sh" || a.DNS {
		t.Errorf("a hook in PATH: %+v", a)
	}
}

func TestExpiredCertificateIsAWarning(t *testing.T) {
	folder, _, _ := tlsFolder(t)
	c, err := configtest.ParseIn(folder, "tls: {certificates: [{cert: old.pem, key: old.key}]}\n"+smallest)
	if err != nil {
		t.Fatal(err)
	}
	mistaketest.Want(t, c.Warnings, []string{`1:29 the certificate "old.pem" has expired on |clients do not accept it`})
}

func TestTLSMistakesAreReported(t *testing.T) {
	folder, _, _ := tlsFolder(t)
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"nothing", "tls: {}\n", []string{`1:1 "tls" has no certificate|certificates: [{cert:|acme:`}},
		{"a single value", "tls: true\n", []string{`1:1 "tls" has no certificate`}},
		{"no certificates", "tls: {certificates: []}\n", []string{`1:21 "certificates" is empty`}},
		{"names of files", "tls: {certificates: [shop.pem]}\n",
			[]string{`1:22 a certificate must be a mapping|cert, key`}},
		{"a key without a certificate", "tls: {certificates: [{key: shop.key}]}\n",
			[]string{`1:22 a certificate has no "cert"`}},
		{"files that are missing", "tls: {certificates: [{cert: no.pem, key: shop.key}, {cert: shop.pem, key: no.key}]}\n",
			[]string{`1:29 no.pem": no such file`, `1:75 no.key": no such file`}},
		{"a folder", "tls: {certificates: [{cert: ., key: shop.key}]}\n", []string{`1:29 not a regular file`}},
		{"a large file", "tls: {certificates: [{cert: large.pem, key: shop.key}]}\n",
			[]string{`1:29 1048577 bytes; the limit`}},
		{"swapped files", "tls: {certificates: [{cert: shop.key, key: shop.pem}]}\n",
			[]string{`1:29 no certificate in PEM|-----BEGIN CERTIFICATE-----`, `1:44 no private key in PEM`}},
		{"an empty file", "tls: {certificates: [{cert: empty.pem}]}\n",
			[]string{`1:29 no certificate in PEM`, `1:29 no private key in PEM`}},
		{"no key in the certificate's file", "tls: {certificates: {cert: shop.pem}}\n",
			[]string{`1:28 no private key in PEM`}},
		{"the key of another", "tls: {certificates: [{cert: shop.pem, key: other.key}]}\n",
			[]string{`1:29 does not belong to the certificate "CN=shop"|the two files are not a pair`}},
		{"the wrong order", "tls: {certificates: [{cert: order.pem, key: shop.key}]}\n",
			[]string{`1:29 the chain is in the wrong order|put the server's certificate first`}},
		{"a certificate twice", "tls: {certificates: [{cert: both.pem}, {cert: both.pem}]}\n",
			[]string{`1:47 the certificate "both.pem" is given twice`}},
		{"http3", "tls: {certificates: {cert: both.pem}, http3: on}\n", []string{`1:46 "on"|true`}},
		{"versions", "tls: {certificates: {cert: both.pem}, min_version: 1.1}\n", []string{`1:52 "1.1"|1.2 or 1.3`}},
		{"no listener", "tls: {certificates: {cert: both.pem}, listen: []}\n", []string{`1:47 "listen" is empty`}},
		{"a port without a colon", "tls: {certificates: {cert: both.pem}, listen: 443}\n",
			[]string{`1:47 "443"|":443"`}},
		{"client certificates", "tls: {certificates: {cert: both.pem}, client_certificates: [{hosts: a.example}, " +
			"{roots: no.pem},\n" +
			"  {hosts: [a_b, '*', 'a:1'], roots: shop.pem, required: maybe}]}\n",
			[]string{`1:61 an entry of client_certificates has no "roots"|roots: ca.pem`, `1:89 the roots|no.pem": no such file`,
				`2:12 "a_b" is not the name of a host`, `2:17 "*"`, `2:22 "a:1"`, `2:37 "CN=shop") cannot issue others`,
				`2:57 "maybe"`}},
		{"the former word for clients without a certificate", "tls: {certificates: {cert: both.pem}, " +
			"client_certificates: {roots: ca.pem, optional: true}}\n",
			[]string{`1:76 unknown key "optional"|write required: false`}},
		{"a host twice", "tls: {certificates: {cert: both.pem}, client_certificates: [{hosts: a, roots: ca.pem}, " +
			"{hosts: A, roots: ca.pem},\n" +
			"  {roots: ca.pem}, {roots: ca.pem}]}\n",
			[]string{`1:88 "a" is in two entries`, `2:20 two entries of client_certificates are for all hosts`}},
		{"the header of subjects", "tls: {certificates: {cert: both.pem}, subject_header: 'X Name'}\n",
			[]string{`1:55 "X Name" is not the name`}},
		{"the header of subjects without clients", "tls: {certificates: {cert: both.pem}, subject_header: X-Client}\n",
			[]string{`1:55 subject_header has no effect without client_certificates|add client_certificates`}},
		{"acme without names", "tls: {acme: {}}\n", []string{`1:7 "acme" has no "domains"|domains: [example.com]`}},
		{"acme", "tls:\n  acme:\n    domains: [a_b, 192.0.2.1, '*.example.com', a.example, A.example]\n    email: ops\n" +
			"    ca: http://ca.example/dir\n    roots: shop.pem\n    storage: no/such\n",
			[]string{`3:15 "a_b" is not the name of a host`, `3:20 "192.0.2.1" is an address`,
				`3:31 "*.example.com" needs a hook`, `3:59 a.example is given twice`, `4:12 "ops"|ops@example.com`,
				`5:9 https://`, `6:12 cannot issue others`,
				`7:14 no such file or directory; create the folder`}},
		{"challenges", "tls: {acme: {domains: a, challenges: [http-01, dns-01, tls-alpn]}}\n",
			[]string{`1:39 http-01 needs a listener|listen: ":80"`, `1:48 dns-01 needs a hook`,
				`1:56 did you mean "tls-alpn-01"?`}},
		{"a hook that is not used", "tls: {acme: {domains: a, dns: {hook: sh}}}\n",
			[]string{`1:38 the hook is not used`}},
		{"hooks", "tls: {acme: {domains: '*.a', dns: {hook: ./no-hook, timeout: 0s}}}\n",
			[]string{`1:42 the hook "./no-hook": no such file`, `1:62 "0s"`}},
		{"a hook that is not executable", "tls: {acme: {domains: '*.a', dns: {hook: [./ca.pem, x]}}}\n",
			[]string{`1:43 permission denied`}},
		{"storage in a file", "tls: {acme: {domains: a, storage: ca.pem}}\n", []string{`1:35 is a file`}},
		{"settings of ciphers", "tls: {certificates: {cert: both.pem}, ciphers: HIGH}\n",
			[]string{`1:39 unknown key "ciphers"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := configtest.ParseIn(folder, c.src+smallest)
			mistaketest.Want(t, err, c.want)
		})
	}
}
