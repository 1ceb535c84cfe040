package router_test

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/router"
)

func TestBuiltinConstraints(t *testing.T) {
	for _, c := range []struct {
		name       string
		constraint router.Constraint
		yes, no    string // separated by blanks
	}{
		{"uuid", router.UUID,
			"123e4567-e89b-12d3-a456-426614174000 123E4567-E89B-12D3-A456-426614174000",
			"123e4567e89b12d3a456426614174000 123e4567-e89b-12d3-a456-42661417400 123e4567-e89b-12d3-a456-42661417400g {123e4567-e89b-12d3-a456-426614174000} 123e4567-e89b-12d3-a4-6-426614174000"},
		{"ipv4", router.IPv4, "0.0.0.0 255.255.255.255 192.0.2.1", "1.2.3 1.2.3.4.5 256.1.1.1 01.2.3.4 1..2.3 1.2.3. .1.2.3 1.2.3.4x"},
		{"ipv6", router.IPv6,
			":: ::1 1:: 2001:db8::1 1:2:3:4:5:6:7:8 ::ffff:192.0.2.1 1:2:3:4:5:6:1.2.3.4 1:2:3:4:5:6:7::",
			": ::: 1::2::3 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 12345:: fe80::1%eth0 ::1.2.3 1:2:3:4:5:6:7:1.2.3.4 1:2:3:4:5:6:7: :1:2:3:4:5:6:7 ::192.0.2.1:1"},
		{"int", router.Int, "0 -1 007 9223372036854775807 -9223372036854775808", "- +1 1.5 9223372036854775808 -9223372036854775809 1e3 ١"},
		{"hex", router.Hex, "0 ff FF c0ffee", "0x1 g -1"},
		{"slug", router.Slug, "a a-b 2024-review", "-a a- a--b A a_b é"},
		{"word", router.Word, "a A_1 _", "a-b é"},
		{"date", router.Date, "2024-02-29 2000-02-29 0000-01-01 2023-12-31", "2023-02-29 1900-02-29 2024-13-01 2024-00-10 2024-04-31 2024-1-1 24-01-01 2024-01-00 2024/01/01"},
	} {
		for _, s := range strings.Fields(c.yes) {
			if !c.constraint.Match(s) {
				t.Errorf("%s refuses %q", c.name, s)
			}
		}
		for _, s := range append(strings.Fields(c.no), "", " ", "\x00") {
			if c.constraint.Match(s) {
				t.Errorf("%s accepts %q", c.name, s)
			}
		}
	}
}

// FuzzBuiltin holds the hand-written matchers to the standard library.
func FuzzBuiltin(f *testing.F) {
	for _, s := range []string{"1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "255.1.0.10", "-9223372036854775808", "a-b", "2024-02-29", "c0ffee"} {
		f.Add(s)
	}
	expressions := map[string]*regexp.Regexp{
		"uuid": regexp.MustCompile(`\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\z`),
		"hex":  regexp.MustCompile(`\A[0-9a-fA-F]+\z`),
		"slug": regexp.MustCompile(`\A[a-z0-9]+(-[a-z0-9]+)*\z`),
		"word": regexp.MustCompile(`\A\w+\z`),
	}
	f.Fuzz(func(t *testing.T, s string) {
		addr, err := netip.ParseAddr(s)
		_, intErr := strconv.ParseInt(s, 10, 64)
		_, dateErr := time.Parse(time.DateOnly, s)
		for _, c := range []struct {
			name       string
			constraint router.Constraint
			want       bool
		}{
			{"ipv4", router.IPv4, err == nil && addr.Is4()},
			{"ipv6", router.IPv6, err == nil && addr.Is6() && addr.Zone() == ""},
			{"int", router.Int, intErr == nil && s[0] != '+'},
			{"date", router.Date, dateErr == nil},
			{"uuid", router.UUID, expressions["uuid"].MatchString(s)},
			{"hex", router.Hex, expressions["hex"].MatchString(s)},
			{"slug", router.Slug, expressions["slug"].MatchString(s)},
			{"word", router.Word, expressions["word"].MatchString(s)},
		} {
			if got := c.constraint.Match(s); got != c.want {
				t.Errorf("%s of %q: got %v, want %v", c.name, s, got, c.want)
			}
		}
	})
}

// A constraint's examples are what conflicts are found with: a wrong one
// would report a conflict that is none.
func TestBuiltinExamplesMatch(t *testing.T) {
	for name, c := range map[string]router.Constraint{
		"uuid": router.UUID, "ipv4": router.IPv4, "ipv6": router.IPv6, "int": router.Int,
		"hex": router.Hex, "slug": router.Slug, "word": router.Word, "date": router.Date,
	} {
		if len(c.Examples()) == 0 {
			t.Errorf("%s has no examples", name)
		}
		for _, s := range c.Examples() {
			if !c.Match(s) {
				t.Errorf("%s refuses its example %q", name, s)
			}
		}
	}
}
