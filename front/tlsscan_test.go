package front_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/certtest"
)

// TestSSLyzeFindsNoWeakness scans a TLS listener with sslyze, for weaknesses and against Mozilla's
// recommendation.
func TestSSLyzeFindsNoWeakness(t *testing.T) {
	t.Parallel()
	sslyze, err := exec.LookPath("sslyze")
	if err != nil {
		t.Skip("sslyze is not installed: pip install sslyze")
	}
	d := openTLSDoor(t, upstream(t, hello).URL)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, certtest.PEM(d.root.Cert), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(sslyze, "--certinfo_ca_file="+roots, "localhost:"+port(d.secure)).CombinedOutput()
	scan := string(out)
	for _, want := range []string{
		`SSL 2\.0 Cipher Suites:\n.*rejected all`, `SSL 3\.0 Cipher Suites:\n.*rejected all`,
		`TLS 1\.0 Cipher Suites:\n.*rejected all`, `TLS 1\.1 Cipher Suites:\n.*rejected all`,
		`TLS 1\.2 Cipher Suites:(?s:.*?)accepted the following 3 cipher suites`,
		`TLS 1\.3 Cipher Suites:(?s:.*?)accepted the following 3 cipher suites`,
		"OK - Compression disabled", "OK - Not vulnerable to OpenSSL CCS", `TLS_FALLBACK_SCSV: +OK`,
		"OK - Not vulnerable to Heartbleed", `ROBOT Attack:\s+OK - Not vulnerable`,
		`Client Renegotiation DoS Attack: +OK`, `Secure Renegotiation: +OK`, `Extended Master Secret Extension:\s+OK`,
		`Forward Secrecy +OK`, "SCANS COMPLETED",
	} {
		if !regexp.MustCompile(want).MatchString(scan) {
			t.Errorf("the scan lacks %s", want)
		}
	}
	// No public authority has issued the certificate, which is the only complaint that remains.
	_, compliance, _ := strings.Cut(scan, "Mozilla's")
	for line := range strings.Lines(compliance) {
		complaint, found := strings.CutPrefix(strings.TrimSpace(line), "* ")
		if found && !strings.HasPrefix(complaint, "certificate_path_validation") {
			t.Errorf("not compliant: %s", complaint)
		}
	}
	if compliance == "" || t.Failed() {
		t.Errorf("sslyze: %v\n%s", err, scan)
	}
}

// port returns the port of an address.
func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }
