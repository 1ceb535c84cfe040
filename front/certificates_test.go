package front_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/certtest"
)

// tlsConfig returns a configuration of TLS on a free port, with one new certificate.
func tlsConfig(t testing.TB, hosts ...string) *config.TLS {
	t.Helper()
	cert, key := certtest.Root(t, "root").Issue(t, certtest.Options{Hosts: hosts}).Write(t, t.TempDir(), "site")
	return &config.TLS{Config: secure.Config{Listen: []string{"localhost:0"}, Certificates: []secure.Certificate{{Cert: cert, Key: key}}}}
}

// TestCertificatesAreReplaced replaces the files of a certificate while the front door runs.
func TestCertificatesAreReplaced(t *testing.T) {
	t.Parallel()
	root, folder := certtest.Root(t, "root"), t.TempDir()
	issue := func(host string, days int) *certtest.Pair {
		return root.Issue(t, certtest.Options{Hosts: []string{host},
			From: time.Now().AddDate(0, 0, -60), To: time.Now().AddDate(0, 0, days)})
	}
	first := issue("a.example", 90)
	cert, key := first.Write(t, folder, "site")
	d := openDoor(t, "http://127.0.0.1:1", func(c *config.Config) {
		c.TLS = &config.TLS{Config: secure.Config{Listen: []string{"localhost:0"}, Certificates: []secure.Certificate{{Cert: cert, Key: key}}}}
	})
	series := func(host string) string {
		return `weir_tls_certificate_expiry_timestamp_seconds{file="` + cert + `",name="` + host + `"}`
	}
	if got, want := d.metric(t, series("a.example")), float64(first.Cert.NotAfter.Unix()); got != want {
		t.Errorf("the certificate expires at %v, want %v", got, want)
	}

	second := issue("b.example", 60)
	if err := os.WriteFile(cert, certtest.PEM(second.Cert), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := d.log.find(t, func(e event) bool { return e.Event == "certificate not replaced" })
	if len(failed.Errors) != 1 || failed.Severity != 1 || failed.Data["file"] != cert {
		t.Errorf("half a pair: %s", failed.raw)
	}
	if err := os.WriteFile(key, second.KeyPEM(t), 0o600); err != nil {
		t.Fatal(err)
	}
	d.log.find(t, func(e event) bool { return e.Event == "certificate replaced" && e.Data["file"] == cert })
	if got, want := d.metric(t, series("b.example")), float64(second.Cert.NotAfter.Unix()); got != want {
		t.Errorf("the certificate expires at %v, want %v", got, want)
	}

	issue("c.example", 1).Write(t, folder, "site")
	d.log.find(t, func(e event) bool { return e.Event == "certificate expires soon" && e.Severity == 2 })
}

func TestExpiredCertificateIsLogged(t *testing.T) {
	t.Parallel()
	began := time.Now().AddDate(0, 0, -10)
	cert, key := certtest.Root(t, "root").
		Issue(t, certtest.Options{From: began, To: began.Add(time.Hour)}).Write(t, t.TempDir(), "old")
	d := openDoor(t, "http://127.0.0.1:1", func(c *config.Config) {
		c.TLS = &config.TLS{Config: secure.Config{Listen: []string{"localhost:0"}, Certificates: []secure.Certificate{{Cert: cert, Key: key}}}}
	})
	d.log.find(t, func(e event) bool { return e.Event == "certificate not valid now" && e.Severity == 1 })
}

// TestBrokenCertificatesAreErrors covers files that break between the check of the
// configuration and its use.
func TestBrokenCertificatesAreErrors(t *testing.T) {
	t.Parallel()
	broken := func(c *config.Config) {
		c.TLS = &config.TLS{Config: secure.Config{Listen: []string{"localhost:0"},
			Certificates: []secure.Certificate{{Cert: filepath.Join(t.TempDir(), "no.pem"), Key: "no.key"}}}}
	}
	if err := newDoor(t, "http://127.0.0.1:1", broken).Listen(); !os.IsNotExist(err) {
		t.Errorf("Listen: %v", err)
	}
	d := openDoor(t, "http://127.0.0.1:1")
	if _, err := d.Reload(doorConfig("http://127.0.0.1:1", broken)); !os.IsNotExist(err) {
		t.Errorf("Reload: %v", err)
	}
}
