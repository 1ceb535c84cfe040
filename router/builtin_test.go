package router_test

import (
	"encoding/base64"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/router"
)

func TestBuiltinConstraintsAcceptTheirSegments(t *testing.T) {
	for _, c := range []struct {
		name       string
		constraint router.Constraint
		yes, no    string // separated by blanks
	}{
		{"uuid", router.UUID,
			"123e4567-e89b-12d3-a456-426614174000 123E4567-E89B-12D3-A456-426614174000",
			"123e4567e89b12d3a456426614174000 123e4567-e89b-12d3-a456-42661417400 " +
				"123e4567-e89b-12d3-a456-42661417400g {123e4567-e89b-12d3-a456-426614174000} " +
				"123e4567-e89b-12d3-a4-6-426614174000"},
		{"ipv4", router.IPv4, "0.0.0.0 255.255.255.255 192.0.2.1",
			"1.2.3 1.2.3.4.5 256.1.1.1 01.2.3.4 1..2.3 1.2.3. .1.2.3 1.2.3.4x"},
		{"ipv6", router.IPv6,
			":: ::1 1:: 2001:db8::1 1:2:3:4:5:6:7:8 ::ffff:192.0.2.1 1:2:3:4:5:6:1.2.3.4 1:2:3:4:5:6:7::",
			": ::: 1::2::3 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 12345:: fe80::1%eth0 ::1.2.3 1:2:3:4:5:6:7:1.2.3.4 " +
				"1:2:3:4:5:6:7: :1:2:3:4:5:6:7 ::192.0.2.1:1"},
		{"int", router.Int, "0 -1 007 9223372036854775807 -9223372036854775808",
			"- +1 1.5 9223372036854775808 -9223372036854775809 1e3 ١"},
		{"uint", router.Uint, "0 1 007 18446744073709551615 000000000018446744073709551615",
			"-1 -0 +1 1.5 18446744073709551616 99999999999999999999 1e3 1_000 ١"},
		{"base64url", router.Base64URL, "YQ YWI YWJj YWJjZA -_-_ AAAAAAAAAAA", "Y YWJjZ YQ== YWI= +/+/ YW.j YW%3D é"},
		{"hex", router.Hex, "0 ff FF c0ffee", "0x1 g -1"},
		{"slug", router.Slug, "a a-b 2024-review", "-a a- a--b A a_b é"},
		{"word", router.Word, "a A_1 _", "a-b é"},
		{"date", router.Date, "2024-02-29 2000-02-29 0000-01-01 2023-12-31",
			"2023-02-29 1900-02-29 2024-13-01 2024-00-10 2024-04-31 2024-1-1 24-01-01 2024-01-00 2024/01/01"},
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

// FuzzBuiltin compares the hand-written matchers with the standard library.
func FuzzBuiltin(f *testing.F) {
	for _, s := range []string{"1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "255.1.0.10", "256.1.1.1", "18446744073709551615",
		"-000000000000000000019", "YWJjZA", "aaaaaaaa-", "aaaaaaa--aaaaaaa", "é-_", "-9223372036854775808", "a-b",
		"2024-02-29", "c0ffee"} {
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
		n, intErr := strconv.ParseInt(s, 10, 64)
		_, uintErr := strconv.ParseUint(s, 10, 64)
		_, base64Err := base64.RawURLEncoding.DecodeString(s)
		_, dateErr := time.Parse(time.DateOnly, s)
		for _, c := range []struct {
			name       string
			constraint router.Constraint
			want       bool
		}{
			{"ipv4", router.IPv4, err == nil && addr.Is4()},
			{"ipv6", router.IPv6, err == nil && addr.Is6() && addr.Zone() == ""},
			{"int", router.Int, intErr == nil && s[0] != '+'},
			{"uint", router.Uint, uintErr == nil},
			{"date", router.Date, dateErr == nil},
			{"base64url", router.Base64URL, base64Err == nil && s != "" && !strings.ContainsAny(s, "\r\n")},
			{"range", router.Range(-20, 1<<62), intErr == nil && s[0] != '+' && -20 <= n && n <= 1<<62},
			{"length", router.Length(3, 9), 3 <= utf8.RuneCountInString(s) && utf8.RuneCountInString(s) <= 9},
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

// Conflicts are found with the examples of constraints: a wrong example would cause a
// false conflict.
func TestBuiltinExamplesMatch(t *testing.T) {
	for name, c := range map[string]router.Constraint{
		"uuid": router.UUID, "ipv4": router.IPv4, "ipv6": router.IPv6, "int": router.Int, "uint": router.Uint,
		"hex": router.Hex, "slug": router.Slug, "word": router.Word, "date": router.Date, "base64url": router.Base64URL,
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

// Two built-in constraints have a common example, unless no segment satisfies both.
func TestBuiltinExamplesShowOverlaps(t *testing.T) {
	disjoint := map[string]string{ // by constraint, the later ones with which it has no segment in common
		"uuid": "ipv4 ipv6 int uint hex word date",
		"ipv4": "ipv6 int uint hex slug word date base64url",
		"ipv6": "int uint hex slug word date base64url",
		"int":  "date", "uint": "date", "hex": "date", "word": "date",
	}
	names := []string{"uuid", "ipv4", "ipv6", "int", "uint", "hex", "word", "slug", "date", "base64url"}
	for i, a := range names {
		for _, b := range names[i+1:] {
			_, err := router.NewTable(nil, []router.Entry[int]{{Pattern: "/{x:" + a + "}"},
				{Pattern: "/{x:" + b + "}"}})
			if want := !slices.Contains(strings.Fields(disjoint[a]), b); (err != nil) != want {
				t.Errorf("%s and %s: got %v, want a conflict: %v", a, b, err, want)
			}
		}
	}
}

// TestMatchersOfWordsEqualPlainOnes compares the matchers that read eight bytes at a time with
// plain implementations.
func TestMatchersOfWordsEqualPlainOnes(t *testing.T) {
	hex := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
	lower := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }
	word := func(c byte) bool { return lower(c) || 'A' <= c && c <= 'Z' || c == '_' }
	matchers := []struct {
		name       string
		constraint router.Constraint
		accepts    func(c byte, at, size int) bool
	}{
		{"uint", router.Uint, func(c byte, _, _ int) bool { return '0' <= c && c <= '9' }},
		{"int", router.Int, func(c byte, at, size int) bool {
			return '0' <= c && c <= '9' || c == '-' && at == 0 && size > 1
		}},
		{"hex", router.Hex, func(c byte, _, _ int) bool { return hex(c) }},
		{"word", router.Word, func(c byte, _, _ int) bool { return word(c) }},
		{"slug", router.Slug, func(c byte, at, size int) bool { return lower(c) || c == '-' && at > 0 && at < size-1 }},
		{"base64url", router.Base64URL, func(c byte, _, size int) bool { return (word(c) || c == '-') && size%4 != 1 }},
	}
	for size := 1; size <= 19; size++ {
		for at := range size {
			for c := range 256 {
				segment := []byte(strings.Repeat("0", size))
				segment[at] = byte(c)
				for _, m := range matchers {
					if got, want := m.constraint.Match(string(segment)), m.accepts(byte(c), at, size); got != want {
						t.Fatalf("%s of %q: got %v, want %v", m.name, segment, got, want)
					}
				}
			}
		}
	}
}

func TestSlugRefusesTwoHyphensAnywhere(t *testing.T) {
	for size := 2; size <= 40; size++ {
		for at := range size - 1 {
			segment := []byte(strings.Repeat("a", size))
			segment[at], segment[at+1] = '-', '-'
			if router.Slug.Match(string(segment)) {
				t.Errorf("it accepts %q", segment)
			}
		}
	}
}
