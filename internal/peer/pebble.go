package peer

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/testkit"
)

// Pebble is an ACME server, with a server of the DNS that resolves all names to 127.0.0.1.
type Pebble struct {
	Directory string         // the URL of the directory
	Roots     *x509.CertPool // of the server's own certificate
	RootsFile string         // the same as a file
	DNSAPI    string         // the URL by which examples/acme/dns-hook.sh sets records
	Stop      func()         // ends the ACME server before the end of the test

	management string // the URL of the interface for tests
	client     *http.Client
}

// PebbleOptions are the options of [StartPebble].
type PebbleOptions struct {
	HTTPPort, TLSPort int            // that challenges are verified on
	Validity          time.Duration  // of certificates, in whole seconds. Zero means 90 days
	OCSP              string         // the URL of the server of OCSP in certificates
	Address           string         // host:port; empty means a free port
	Env               []string       // NAME=value
	Root              *certtest.Pair // that issues the server's own certificate; nil makes one
}

// StartPebble starts Pebble and a server of the DNS. The end of the test ends them.
func StartPebble(t testing.TB, o PebbleOptions) *Pebble {
	t.Helper()
	folder, root := t.TempDir(), o.Root
	if root == nil {
		root = certtest.Root(t, "pebble's own root")
	}
	cert, key := root.Issue(t, certtest.Options{}).Write(t, folder, "pebble")
	if o.Validity == 0 {
		o.Validity = 90 * 24 * time.Hour
	}
	if o.Address == "" {
		o.Address = FreeAddress(t)
	}
	p := &Pebble{Directory: "https://" + o.Address + "/dir", Roots: root.Pool(),
		RootsFile: filepath.Join(folder, "roots.pem")}
	management, dns, dnsManagement := FreeAddress(t), FreeAddress(t), FreeAddress(t)
	p.management, p.DNSAPI = "https://"+management, "http://"+dnsManagement
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Roots}}
	t.Cleanup(transport.CloseIdleConnections)
	p.client = &http.Client{Transport: transport}
	algorithm := "ecdsa"
	if o.OCSP != "" {
		algorithm = "rsa" // Pebble returns no other keys
	}
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": o.Address, "managementListenAddress": management, "certificate": cert, "privateKey": key,
		"httpPort": o.HTTPPort, "tlsPort": o.TLSPort, "ocspResponderURL": o.OCSP, "keyAlgorithm": algorithm,
		"domainBlocklist": []string{"blocked.example"},
		"profiles": map[string]any{"default": map[string]any{"description": "test",
			"validityPeriod": int(o.Validity.Seconds())}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "pebble.json")
	for name, src := range map[string][]byte{config: settings, p.RootsFile: certtest.PEM(root.Cert)} {
		if err := os.WriteFile(name, src, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start(t, nil, Program(t, "github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv"), "-defaultIPv6", "",
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-dnsserver", dns, "-management", dnsManagement)
	env := append([]string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0", "PEBBLE_AUTHZREUSE=0"}, o.Env...)
	p.Stop = start(t, env, Program(t, "github.com/letsencrypt/pebble/v2/cmd/pebble"), "-config", config,
		"-dnsserver", dns).stop
	for _, address := range []string{o.Address, management, dnsManagement} {
		testkit.AwaitListener(t, address)
	}
	return p
}

// CA returns the root certificate that issues, in PEM format.
func (p *Pebble) CA(t testing.TB) []byte { return p.get(t, "/roots/0") }

// Intermediate returns the certificate and the key that sign, in PEM format. It needs the
// option OCSP.
func (p *Pebble) Intermediate(t testing.TB) (cert, key []byte) {
	return p.get(t, "/intermediates/0"), p.get(t, "/intermediate-keys/0")
}

func (p *Pebble) get(t testing.TB, path string) []byte {
	t.Helper()
	resp, err := p.client.Get(p.management + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", path, resp.Status, err)
	}
	return body
}
