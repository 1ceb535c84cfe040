package proxying

import (
	"net/netip"
	"testing"
)

// TestForwardedQuotesHost checks that the host of a Forwarded element is a quoted string, RFC 9110 section 5.6.4.
func TestForwardedQuotesHost(t *testing.T) {
	for host, want := range map[string]string{
		"":           "",
		"a.example":  "a.example",
		`"`:          `\"`,
		`a"b\c`:      `a\"b\\c`,
		`\\ab.cd.e"`: `\\\\ab.cd.e\"`,
	} {
		got := string(appendElement(nil, hop{netip.MustParseAddr("192.0.2.1"), host, "http"}))
		if want = `for=192.0.2.1;host="` + want + "\";proto=http\r\n"; got != want {
			t.Errorf("host %q: %q, want %q", host, got, want)
		}
	}
}
