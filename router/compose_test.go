package router_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirhq/weir/router"
)

func TestCompositesCombineTheirParts(t *testing.T) {
	for _, c := range []struct {
		name       string
		constraint router.Constraint
		yes, no    []string
	}{
		{"Any()", router.Any(), nil, []string{"", "a"}},
		{"All()", router.All(), []string{"", "a"}, nil},
		{"Any(Int, Date)", router.Any(router.Int, router.Date), []string{"-1", "2024-02-29"},
			[]string{"", "a", "2023-02-29"}},
		{"Any of nothing", router.Any(router.Constraint{}, router.Int), []string{"1"}, []string{"a"}},
		{"All with nothing", router.All(router.Int, router.Constraint{}), nil, []string{"1"}},
		{"page", router.All(router.Uint, router.Range(1, 500)), []string{"1", "500", "0042"},
			[]string{"0", "501", "-1", "+1", ""}},
		{"Range", router.Range(-5, 5), []string{"-5", "-0", "-000", "5", "0000000000000000000000005",
			"-0000000000000000000000005"},
			[]string{"-6", "6", "-", "", "--1", "5 ", "1.0", "00000000000000000000000x", "00000000000000000000000/",
				"100000000000000000000000"}},
		{"Range of all", router.Range(math.MinInt64, math.MaxInt64),
			[]string{"9223372036854775807", "-9223372036854775808", "-9223372036854775807"},
			[]string{"9223372036854775808", "-9223372036854775809", "18446744073709551617", "-18446744073709551617"}},
		{"Range of one", router.Range(7, 7), []string{"7", "07"}, []string{"6", "8", "-7"}},
		{"Length", router.Length(2, 3), []string{"ab", "abc", "日本語", "é\xff", "\xf0\x9f\x98\x80\xf0\x9f\x98\x80"},
			[]string{"", "a", "é", "abcd", "😀"}},
		{"Length of nothing", router.Length(0, 0), []string{""}, []string{"a"}},
		{"nested", router.All(router.Slug, router.Any(router.Length(1, 2), router.Length(5, 6))),
			[]string{"ab", "abcde"}, []string{"abc", "A", "abcdefg"}},
		{"with Regexp", router.All(router.Regexp("[a-z]+"), router.Length(2, 3)), []string{"ab"}, []string{"a", "AB"}},
	} {
		for _, s := range c.yes {
			if !c.constraint.Match(s) {
				t.Errorf("%s refuses %q", c.name, s)
			}
		}
		for _, s := range c.no {
			if c.constraint.Match(s) {
				t.Errorf("%s accepts %q", c.name, s)
			}
		}
	}
}

// A composite does not change with the slice from which it was made.
func TestCompositesKeepTheirParts(t *testing.T) {
	parts := []router.Constraint{router.Int}
	either, both := router.Any(parts...), router.All(parts...)
	parts[0] = router.Date
	if !either.Match("1") || !both.Match("1") {
		t.Error("they follow the slice")
	}
}

func TestCompositesOfRegexpsAreCostly(t *testing.T) {
	expr := router.Regexp("a+")
	for name, c := range map[string]router.Constraint{
		"Regexp": expr, "Any": router.Any(expr, router.Int), "All": router.All(router.Int, expr),
		"nested": router.All(router.Any(router.Int, router.All(expr))),
	} {
		if !c.Costly() {
			t.Errorf("%s is not", name)
		}
	}
	for name, c := range map[string]router.Constraint{
		"Int": router.Int, "Range": router.Range(1, 2), "Length": router.Length(1, 2), "zero": {},
		"Any": router.Any(router.Int, router.Hex), "All": router.All(router.Int, router.Range(1, 2)),
	} {
		if c.Costly() {
			t.Errorf("%s is", name)
		}
	}
}

func TestBoundsAreChecked(t *testing.T) {
	for want, make := range map[string]func(){
		"router: Range(2, 1): ":   func() { router.Range(2, 1) },
		"router: Length(4, 3): ":  func() { router.Length(4, 3) },
		"router: Length(-1, 3): ": func() { router.Length(-1, 3) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, want) {
					t.Errorf("got %q, want %q", text, want)
				}
			}()
			make()
		}()
	}
}

// Examples are few and correct, and exist where users expect a conflict.
func TestCompositesHaveExamples(t *testing.T) {
	many := router.Any(router.Int, router.Slug, router.Word, router.Date, router.UUID, router.Hex,
		router.Regexp(`[a-z]{3}\d+`), router.Range(0, math.MaxInt64))
	for name, c := range map[string]router.Constraint{
		"Any":                 router.Any(router.Int, router.Date),
		"Any of many":         many,
		"All of many":         router.All(many, many, router.Length(1, 300)),
		"page":                router.All(router.Uint, router.Range(1, 500)),
		"title":               router.All(router.Slug, router.Length(30, 40)),
		"version":             router.All(router.Regexp(`v[0-9]+`), router.Length(10, 12)),
		"file":                router.All(router.Regexp(`[a-z]+\.html`), router.Length(20, 20)),
		"base64url of 16":     router.All(router.Base64URL, router.Length(22, 22)),
		"four digits":         router.All(router.Uint, router.Length(4, 4)),
		"three digits of hex": router.All(router.Hex, router.Int, router.Range(100, 999)),
		"Range":               router.Range(-7, 7),
		"Range of all":        router.Range(math.MinInt64, math.MaxInt64),
		"Length":              router.Length(0, math.MaxInt),
	} {
		examples := c.Examples()
		if len(examples) == 0 || len(examples) > 24 {
			t.Errorf("%s: %d examples", name, len(examples))
		}
		for i, s := range examples {
			if s == "" || !c.Match(s) || slices.Contains(examples[:i], s) {
				t.Errorf("%s: bad example %q", name, s)
			}
		}
	}
	for name, c := range map[string]router.Constraint{
		"Any()": router.Any(), "All()": router.All(), "contradiction": router.All(router.Date, router.Int),
		"Length of nothing": router.Length(0, 0), "Length of much": router.Length(1000, 2000),
	} {
		if examples := c.Examples(); len(examples) != 0 {
			t.Errorf("%s: examples %q", name, examples)
		}
	}
}

func TestCompositesConflict(t *testing.T) {
	constraints := router.Constraints{
		"low": router.Range(1, 500), "high": router.Range(500, 1000), "negative": router.Range(math.MinInt64, -1),
		"short": router.All(router.Slug, router.Length(1, 30)), "long": router.All(router.Slug, router.Length(30, 40)),
		"longer": router.All(router.Word, router.Length(31, 50)), "version": router.All(router.Regexp("v[0-9]+"),
			router.Length(30, 31)),
		"either": router.Any(router.Date, router.UUID),
	}
	for pair, want := range map[string]bool{
		"low high": true, "low negative": false, "high int": true, "negative int": true, "high hex": true,
		"short long": true, "short longer": false, "long longer": true, "version long": true, "version short": true,
		"version longer": true, "either date": true, "either uuid": true, "either int": false,
	} {
		a, b, _ := strings.Cut(pair, " ")
		_, err := router.NewTable(constraints, []router.Entry[int]{{Pattern: "/{x:" + a + "}"},
			{Pattern: "/{x:" + b + "}"}})
		if (err != nil) != want {
			t.Errorf("%s and %s: got %v, want a conflict: %v", a, b, err, want)
		}
	}
}

// TestNoConstraintAcceptsHostileSegments gives hostile segments to every constraint: none may panic, and
// none may accept a wrong segment.
func TestNoConstraintAcceptsHostileSegments(t *testing.T) {
	const huge = 1 << 20
	segments := []string{"", "\x00", "\xff", "\x80", "1\x00", "1\xff1", "a\x00b", "::\x00", "\xb1\xb1\xb1\xb1", "１",
		"٣٤", "é", "\u202e", "-", "--", ".", "..", ":", "/", "a/b", "%31", " 1", "1\n", "\r\n"}
	for _, s := range []string{"\x00", "\xff", "\xff1", "-", ":", ".", "1.", "1:", ":1", "/", "é", "日"} {
		segments = append(segments, strings.Repeat(s, huge/len(s)))
	}
	// a wrong byte at each end and next to the boundaries of words
	for _, size := range []int{7, 8, 9, 15, 16, 17, 32, 36, huge} {
		for _, bad := range []string{"\x00", "\xff", "\x80", "\xb0"} {
			for _, at := range []int{0, size / 2, size - 1} {
				segments = append(segments, strings.Repeat("1", at)+bad+strings.Repeat("1", size-at-1))
			}
		}
	}
	for name, c := range allConstraints() {
		for _, s := range segments {
			if c.Match(s) && !hostileButFine(name, s) {
				t.Errorf("%s accepts %.20q of %d bytes", name, s, len(s))
			}
		}
	}
}

// hostileButFine reports whether a constraint rightly accepts a segment of the above.
func hostileButFine(name, s string) bool {
	switch name {
	case "length":
		n := utf8.RuneCountInString(s)
		return n >= 2 && n <= 30
	case "regexp":
		return strings.Trim(s, "é") == ""
	case "base64url":
		return strings.Trim(s, "-") == "" && len(s)%4 != 1
	case "any":
		return hostileButFine("length", s) || hostileButFine("regexp", s)
	}
	return false
}

func allConstraints() map[string]router.Constraint {
	return map[string]router.Constraint{
		"uuid": router.UUID, "ipv4": router.IPv4, "ipv6": router.IPv6, "int": router.Int, "uint": router.Uint,
		"hex": router.Hex, "slug": router.Slug, "word": router.Word, "date": router.Date, "base64url": router.Base64URL,
		"range": router.Range(math.MinInt64, math.MaxInt64), "length": router.Length(2, 30),
		"regexp": router.Regexp(`é+|[0-9]+`),
		"any":    router.Any(router.Int, router.Length(2, 30), router.Regexp(`é+`)),
		"all":    router.All(router.Length(2, 300), router.Slug, router.Regexp(`[0-9]+`)),
	}
}

func TestConstraintsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	segments := []string{
		"123e4567-e89b-12d3-a456-426614174000", "192.0.2.1", "2001:db8::192.0.2.1", "-9223372036854775808",
		"18446744073709551615",
		"c0ffee", "some-title", "some_word", "2024-02-29", "aGVsbG8", "é", "", strings.Repeat("1", 1000),
		strings.Repeat("\xff", 1000),
	}
	for name, c := range allConstraints() {
		for _, s := range segments {
			if n := testing.AllocsPerRun(100, func() { c.Match(s) }); n != 0 {
				t.Errorf("%s of %q: %v allocations", name, s, n)
			}
		}
	}
}
