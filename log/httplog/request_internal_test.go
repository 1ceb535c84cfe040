package httplog

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestSplitHostReturnsHostAndPort(t *testing.T) {
	for _, c := range []struct {
		in   string
		host string
		port int
	}{
		{"", "", 0},
		{"example.com", "example.com", 0},
		{"example.com:80", "example.com", 80},
		{"example.com:65535", "example.com", 65535},
		{"example.com:", "example.com", 0},
		{":80", "", 80},
		{"[::1]", "::1", 0},
		{"[::1]:80", "::1", 80},
		{"[fe80::1%eth0]:80", "fe80::1%eth0", 80},
		{"192.0.2.1:41234", "192.0.2.1", 41234},
		{"@", "@", 0}, // a Unix socket

		// Invalid input is returned unchanged.
		{"::1", "::1", 0},
		{"example.com:65536", "example.com:65536", 0},
		{"example.com:-1", "example.com:-1", 0},
		{"example.com:x", "example.com:x", 0},
		{"a:b:80", "a:b:80", 0},
		{"[::1]80", "[::1]80", 0},
		{"[", "[", 0},
		{"]", "]", 0},
		{":", "", 0},
	} {
		if host, port := splitHost(c.in); host != c.host || port != c.port {
			t.Errorf("splitHost(%q) = %q, %d, want %q, %d", c.in, host, port, c.host, c.port)
		}
	}
}

// FuzzSplitHost compares splitHost with net.SplitHostPort and net.JoinHostPort.
func FuzzSplitHost(f *testing.F) {
	for _, seed := range []string{"example.com:80", "[::1]:80", "[::1]", "a:b:c", "[a]b:1", "x:", "[]:1", "[[a]:1",
		"a]:1"} {
		f.Add(seed, uint16(8080))
	}
	f.Fuzz(func(t *testing.T, s string, n uint16) {
		host, port := splitHost(s)
		if port < 0 || port > 65535 || len(host) > len(s) {
			t.Errorf("splitHost(%q) = %q, %d", s, host, port)
		}
		if wantHost, digits, err := net.SplitHostPort(s); err == nil && !strings.ContainsAny(wantHost, "[]") {
			wantPort, err := strconv.ParseUint(digits, 10, 16)
			if digits != "" && err != nil {
				wantHost = s
			}
			if host != wantHost || port != int(wantPort) && err == nil {
				t.Errorf("splitHost(%q) = %q, %d, want %q, %s", s, host, port, wantHost, digits)
			}
		}
		if strings.ContainsAny(s, "[]") {
			return
		}
		if host, port := splitHost(net.JoinHostPort(s, strconv.Itoa(int(n)))); host != s || port != int(n) {
			t.Errorf("splitHost(JoinHostPort(%q, %d)) = %q, %d", s, n, host, port)
		}
	})
}

// FuzzTarget checks that the path and query cut from the request line are the
// same as those of the URL that net/http parses from it.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{"/", "/a%2Fb?c=%20", "/a?b?c", "/?", "//a/b", "/a#b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		u, err := url.ParseRequestURI(uri)
		if err != nil || uri[0] != '/' || strings.HasPrefix(uri, "//") {
			return // net/http rejects it or parses it as an absolute URL
		}
		path, query := target(&http.Request{RequestURI: uri, URL: u})
		if plain, err := url.PathUnescape(path); err != nil || plain != u.Path || query != u.RawQuery {
			t.Errorf("target(%q) = %q, %q, want %q, %q", uri, path, query, u.EscapedPath(), u.RawQuery)
		}
	})
}
