package router_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

func TestCanonicalHostDropsPortAndCase(t *testing.T) {
	for host, want := range map[string]string{
		"":                      "",
		"example.com":           "example.com",
		"Example.COM":           "example.com",
		"example.com:8080":      "example.com",
		"example.com.":          "example.com",
		"example.com.:80":       "example.com",
		"a":                     "a",
		"A_b":                   "a_b",
		"localhost:":            "localhost",
		"192.0.2.1:80":          "192.0.2.1",
		"[::1]":                 "::1",
		"[::1]:80":              "::1",
		"[2001:DB8::1]":         "2001:db8::1",
		"::1":                   "::1",
		"bücher.example":        "xn--bcher-kva.example",
		"BÜCHER.Example":        "xn--bcher-kva.example",
		"bücher.example.:80":    "xn--bcher-kva.example",
		"XN--bcher-KVA.example": "xn--bcher-kva.example",
		"straße.example":        "xn--strae-oqa.example",
		"παράδειγμα.δοκιμή":     "xn--hxajbheg2az3al.xn--jxalpdlp",
		"例え.テスト":                "xn--r8jz45g.xn--zckzah",
		"उदाहरण.परीक्षा":           "xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g",
		"مثال.إختبار":              "xn--mgbh0fb.xn--kgbechtv",
		"пример.испытание":         "xn--e1afmkfd.xn--80akhbyknj4f",
		"a.ü":                      "a.xn--tda",
		"ü..a":                     "xn--tda..a", // invalid, but equivalent to a..b
		strings.Repeat("a", 300):   strings.Repeat("a", 300),
		"a_-1." + "zzzzzzzz:65535": "a_-1.zzzzzzzz",

		// Hosts that no pattern can name.
		".":                            "",
		"a..":                          "",
		":80":                          "",
		"[":                            "",
		"[::1":                         "",
		"[a]":                          "",
		"[a:80]":                       "",
		"[::1]80":                      "",
		"[[::1]":                       "",
		"[ü::]":                        "",
		"ü:1:2":                        "",
		"ü%2e":                         "",
		"ü/":                           "",
		"ü。example":                    "",
		"☃.example":                    "",
		"a\u200db.ü":                   "",
		"\xffa":                        "",
		"İstanbul.example":             "", // not istanbul.example
		"\u212aelvin.example":          "", // not kelvin.example
		"xn--ü.example":                "",
		strings.Repeat("ü", 64):        "",
		strings.Repeat("ü日", 29):       "",
		strings.Repeat("ü.", 10000):    "",
		strings.Repeat("a", 64) + ".ü": "",
	} {
		if got := router.CanonicalHost(host); got != want {
			t.Errorf("%.40q: got %q, want %q", host, got, want)
		}
	}
}

func TestHostsOfPatternsBecomeCanonical(t *testing.T) {
	for _, c := range []struct {
		host, want string
		offset     int
		says       string // "": no mistake
	}{
		{"", "", 0, ""},
		{"example.com", "example.com", 0, ""},
		{"EXAMPLE.com", "example.com", 0, ""},
		{"bücher.example", "xn--bcher-kva.example", 0, ""},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", 0, ""},
		{"[::1]", "::1", 0, ""},
		{"::1", "::1", 0, ""},
		{"example.com:80", "", 4, "write example.com: it is matched on every port"},
		{"bücher.example:80", "", 4, "write xn--bcher-kva.example"},
		{"[::1]:80", "", 4, "write [::1]"},
		{"example.com.", "", 4, "write example.com"},
		{"example!", "", 11, `"!" is not allowed`},
		{"büch☃r.example", "", 9, `"☃" is not allowed`},
		{"a。b", "", 5, `"。" is not allowed`},
		{"a\xff", "", 5, `"\xff" is not allowed`},
		{"İ.example", "", 4, `"İ" is not allowed`},
		{"a..", "", 4, "is not a host"},
		{"[a]", "", 4, "IPv6 address in brackets"},
		{strings.Repeat("ü", 64), "", 4, "too long"},
		{strings.Repeat("日ü", 30), "", 4, "too long"},
		{strings.Repeat("ü.", 1000) + "a", "", 4, "too long"},
		{"xn--ü.example", "", 4, "partial A-label"},
	} {
		got, m := router.CanonicalPatternHost(c.host, 4)
		switch {
		case got != c.want || (m != nil) != (c.says != ""):
			t.Errorf("%.40q: got %q, %v, want %q, %q", c.host, got, m, c.want, c.says)
		case m != nil && (m.Offset != c.offset || !strings.Contains(m.Error(), c.says)):
			t.Errorf("%.40q: got offset %d, %v, want %d, %q", c.host, m.Offset, m, c.offset, c.says)
		case m == nil && router.CanonicalHost(c.host) != got:
			t.Errorf("%.40q: a request's is %q, the pattern's %q", c.host, router.CanonicalHost(c.host), got)
		}
	}
}

func FuzzCanonicalHost(f *testing.F) {
	for _, s := range []string{"", "Example.com.:80", "[::1]:80", "[a:80]", "a..", "::1.", "bücher.example", "xn--ü",
		"İ", "\xff", "ǅ.ß", "ü" + strings.Repeat("a", 60)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		got := router.CanonicalHost(host)
		if again := router.CanonicalHost(got); again != got {
			t.Errorf("%q became %q, and that %q", host, got, again)
		}
		for i := range len(got) {
			if c := got[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
				t.Errorf("%q became %q", host, got)
			}
		}
		for label := range strings.SplitSeq(got, ".") {
			encoded, isEncoded := strings.CutPrefix(label, "xn--")
			if _, ok := fromPunycode(encoded); isEncoded && !ok && !strings.Contains(strings.ToLower(host), label) {
				t.Errorf("%q became %q, with a label that cannot be decoded", host, got)
			}
		}
		canonical, m := router.CanonicalPatternHost(host, 0)
		switch {
		case m == nil && canonical != got:
			t.Errorf("%q is %q in a pattern and %q in a request", host, canonical, got)
		case m != nil && (m.Offset < 0 || m.Offset > len(host)):
			t.Errorf("%q: %+v", host, m)
		}
	})
}

func TestCanonicalHostAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, host := range []string{"www.example.com", "localhost:8080", "example.com.", "[2001:db8::1]:443",
		"xn--bcher-kva.example", "a"} {
		if n := testing.AllocsPerRun(100, func() { router.CanonicalHost(host) }); n != 0 {
			t.Errorf("%s: %v allocations", host, n)
		}
	}
}

func BenchmarkCanonicalHost(b *testing.B) {
	for _, host := range []string{"www.example.com", "localhost:8080", "WWW.example.com", "[2001:db8::1]:443",
		"bücher.example"} {
		b.Run(host, func(b *testing.B) {
			for b.Loop() {
				router.CanonicalHost(host)
			}
		})
	}
}
