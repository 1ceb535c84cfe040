package target

import (
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"testing"
)

// FuzzCheckPath compares parsers that decode a path before and after they clean
// it. An accepted path means the same to all of them.
func FuzzCheckPath(f *testing.F) {
	for _, p := range []string{"/", "/a/b", "/a/../b", "/a/%2e%2E/b", "/a/..;x/b", "/..%2fb", "/a%2f.", "//a//", "/a%00",
		"/%5c", "/%zz", "/a;b/.c"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if !strings.HasPrefix(p, "/") || strings.Contains(p, "?") {
			t.Skip("the front door rejects such a target before")
		}
		why := CheckPath(p)
		if want := pathIsPlain(p); want != (why == "") {
			t.Errorf("CheckPath(%q) = %q, and the path is plain: %v", p, why, want)
		}
		if why != "" {
			return
		}
		decoded, err := url.PathUnescape(p)
		if err != nil {
			t.Fatalf("%q passes: %v", p, err)
		}
		for _, reading := range []string{p, decoded, withoutParameters(p), withoutParameters(decoded)} {
			// Cleaning removes only empty segments.
			if got, want := segments(path.Clean(reading)), segments(reading); got != want {
				t.Errorf("%q passes, and read as %q it leads to %q", p, reading, path.Clean(reading))
			}
		}
	})
}

// pathIsPlain is a slow implementation of CheckPath.
func pathIsPlain(p string) bool {
	decoded, err := url.PathUnescape(p)
	if err != nil || strings.ContainsAny(decoded, `\`) || strings.Contains(p, "#") {
		return false
	}
	for i := range len(p) {
		if p[i] == '%' {
			if n, _ := strconv.ParseUint(p[i+1:i+3], 16, 8); n < 0x20 || n == 0x7f {
				return false
			}
		}
	}
	slashes := strings.NewReplacer("%2f", "/", "%2F", "/").Replace(p)
	for segment := range strings.SplitSeq(slashes, "/") {
		segment, _, _ = strings.Cut(segment, ";")
		if s, _ := url.PathUnescape(segment); s == "." || s == ".." {
			return false
		}
	}
	return true
}

// withoutParameters removes ";..." from every segment, as servlets do.
func withoutParameters(p string) string {
	all := strings.Split(p, "/")
	for i := range all {
		all[i], _, _ = strings.Cut(all[i], ";")
	}
	return strings.Join(all, "/")
}

// segments returns the number of segments that are not empty.
func segments(p string) (n int) {
	for s := range strings.SplitSeq(p, "/") {
		if s != "" {
			n++
		}
	}
	return n
}

// FuzzSplitHost compares with net/url and netip. They read an accepted host
// alike.
func FuzzSplitHost(f *testing.F) {
	for _, h := range []string{"a", "a.b:80", "[::1]:80", "[::1", "a..b", ":80", "a:", "127.0.0.1:65535",
		"[::ffff:1.2.3.4]", "a:080"} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, host string) {
		name, port, ok := SplitHost(host)
		if !ok {
			return
		}
		u, err := url.Parse("http://" + host + "/")
		if err != nil {
			t.Fatalf("SplitHost accepts %q: %v", host, err)
		}
		n, _ := strconv.Atoi(u.Port())
		if u.Host != host || u.Hostname() != name || n != port || u.User != nil || u.Path != "/" {
			t.Errorf("SplitHost(%q) = %q, %d; net/url reads %q, %q", host, name, port, u.Hostname(), u.Port())
		}
		if port < 0 || port > 65535 || port == 0 && u.Port() != "" {
			t.Errorf("SplitHost(%q) accepts port %d", host, port)
		}
		if strings.HasPrefix(host, "[") {
			if addr, err := netip.ParseAddr(name); err != nil || !addr.Is6() {
				t.Errorf("SplitHost(%q) accepts address %q", host, name)
			}
		}
	})
}
