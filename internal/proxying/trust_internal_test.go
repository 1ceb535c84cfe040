package proxying

import (
	"net/netip"
	"strings"
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

// TestSchemeIsReportedByTheProxyOfTheClient checks the scheme of the client of a trusted peer, and the
// X-Forwarded-Proto that the upstream gets.
func TestSchemeIsReportedByTheProxyOfTheClient(t *testing.T) {
	trust := Trust{netip.MustParsePrefix("10.0.0.0/8")}
	for _, c := range []struct {
		hops   string   // X-Forwarded-For
		protos []string // the fields X-Forwarded-Proto
		scheme string
		proto  string // for the upstream
	}{
		{"192.0.2.1", nil, "connection", "connection"},
		{"192.0.2.1", []string{""}, "connection", "connection"},
		{"192.0.2.1", []string{"https"}, "https", "https"},
		{"", []string{"HTTPS"}, "HTTPS", "HTTPS"},
		{"192.0.2.1", []string{"wss"}, "https", "wss"},
		{"192.0.2.1", []string{"WS"}, "http", "WS"},
		{"192.0.2.1, 10.0.0.2", []string{"https"}, "https", "https"},

		// Each proxy has appended an element.
		{"192.0.2.1, 10.0.0.2", []string{"https, http"}, "https", "https"},
		{"192.0.2.1, 10.0.0.2", []string{"https", "http"}, "https", "https"},
		{"192.0.2.1,10.0.0.2", []string{"wss,ws"}, "https", "wss"},
		{"10.0.0.3, 10.0.0.2", []string{"https, http"}, "https", "https"},
		{"192.0.2.1, 10.0.0.3, 10.0.0.2", []string{"https, http"}, "https", "https"},

		// The client has sent elements.
		{"192.0.2.1", []string{"https, http"}, "http", "http"},
		{"192.0.2.9, 192.0.2.1", []string{"https, http"}, "http", "http"},
		{"192.0.2.9, 192.0.2.1, 10.0.0.2", []string{"http, https, http"}, "https", "https"},
		{"192.0.2.1", []string{"https", "http"}, "http", "http"},

		{"", []string{"https, http"}, "http", "http"},
		{"x, 10.0.0.2", []string{"https, http"}, "http", "http"},
		{"192.0.2.1, 10.0.0.2", []string{"a b, https"}, "https", "https"},
		{"192.0.2.1, 10.0.0.2", []string{"https, a b"}, "connection", "connection"},
		{"192.0.2.1, 10.0.0.2", []string{"https,"}, "connection", "connection"},
	} {
		header := []Field{{"x-forwarded-for", c.hops}}
		for _, proto := range c.protos {
			header = append(header, Field{"x-forwarded-proto", proto})
		}
		peer := netip.MustParseAddr("::ffff:10.0.0.1")
		if got := trust.Scheme(peer, header, "connection"); got != c.scheme {
			t.Errorf("%s, %q: the scheme is %q, want %q", c.hops, c.protos, got, c.scheme)
		}
		fields := string(trust.appendForwarded(nil, header, hop{peer, "a.example", "connection"}))
		if !strings.Contains(fields, "\r\nX-Forwarded-Proto: "+c.proto+"\r\n") {
			t.Errorf("%s, %q: the upstream gets\n%swant X-Forwarded-Proto: %s", c.hops, c.protos, fields, c.proto)
		}
		if got := trust.Scheme(netip.MustParseAddr("192.0.2.1"), header, "connection"); got != "connection" {
			t.Errorf("%s, %q: the scheme of another peer is %q", c.hops, c.protos, got)
		}
	}
}
