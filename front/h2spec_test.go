package front_test

import (
	"encoding/xml"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weirhq/weir/internal/peer"
)

// TestH2specPasses runs the conformance tests of h2spec. One of them does not pass on a plain
// listener: "Sends invalid connection preface" wants the connection closed without a response.
// A plain listener also serves HTTP/1, in which these bytes are a request that gets 400. A busy machine may take longer
// than h2spec's own limit of 2 s for a response.
func TestH2specPasses(t *testing.T) {
	t.Parallel()
	program := peer.Program(t, "github.com/summerwind/h2spec/cmd/h2spec")
	d := openTLSDoor(t, upstream(t, hello).URL)
	for _, c := range []struct {
		name, addr string
		args       []string
		failures   []string
	}{
		{"plain", d.addr, nil, []string{"Sends invalid connection preface"}},
		{"TLS", d.secure, []string{"-t", "-k"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			host, port, err := net.SplitHostPort(c.addr)
			if err != nil {
				t.Fatal(err)
			}
			report := filepath.Join(t.TempDir(), "report.xml")
			out, err := exec.Command(program, append(c.args, "-h", host, "-p", port, "-j", report, "-o", "60")...).CombinedOutput()
			tests, failed := readReport(t, report)
			if tests != 145 || !slices.Equal(failed, c.failures) {
				t.Errorf("%d tests, failed %q, want 145 and %q: %v\n%s", tests, failed, c.failures, err, out)
			}
		})
	}
}

// readReport reads a report in the format of JUnit.
func readReport(t *testing.T, name string) (tests int, failed []string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Suites []struct {
			Cases []struct {
				Name    string  `xml:"classname,attr"`
				Failure *string `xml:"failure"`
				Error   *string `xml:"error"`
				Skipped *string `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b, &report); err != nil {
		t.Fatal(err)
	}
	for _, suite := range report.Suites {
		for _, c := range suite.Cases {
			if tests++; c.Failure != nil || c.Error != nil || c.Skipped != nil {
				failed = append(failed, c.Name)
			}
		}
	}
	return tests, failed
}
