package router_test

import (
	"regexp"
	"testing"

	"github.com/weirhq/weir/router"
)

func TestRegexpMatchesWholeSegments(t *testing.T) {
	for _, c := range []struct {
		expr, segment string
		want          bool
	}{
		{`[A-Z]{3}[0-9]+`, "EDN9", true},
		{`[A-Z]{3}[0-9]+`, "xEDN9", false},
		{`[A-Z]{3}[0-9]+`, "EDN9x", false},
		{`^[a-z]+$`, "abc", true},
		{`a|b`, "a", true},
		{`a|b`, "ab", false}, // the whole alternation is anchored
		{`(?m)a$`, "a\nb", false},
		{`a.b`, "a/b", true}, // an escaped slash is part of its segment
	} {
		if got := router.Regexp(c.expr).Match(c.segment); got != c.want {
			t.Errorf("%s of %q: got %v, want %v", c.expr, c.segment, got, c.want)
		}
	}
}

func TestCompileRegexpRejectsBadSyntax(t *testing.T) {
	for _, expr := range []string{"(", "a)(b", "[z-a]", "(?=a)"} {
		if _, err := router.CompileRegexp(expr); err == nil {
			t.Errorf("%q is compiled", expr)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Regexp does not panic")
		}
	}()
	router.Regexp("(")
}

func TestZeroConstraintAcceptsNothing(t *testing.T) {
	if (router.Constraint{}).Match("a") {
		t.Error("it accepts a")
	}
}

func TestExamplesOfRegexpsMatch(t *testing.T) {
	for _, expr := range []string{
		`[A-Z]{3}[0-9]+`, `asc|desc`, `\d{4}-\d{2}`, `(?i)draft`, `v[0-9]+(\.[0-9]+)*`, `[^/]+`,
		`.*`, `\p{Greek}+`, `(a|b)(c|d)?`, `x{0,3}y`, `^(foo|bar)-\w+$`, `[[:upper:]]`, `(?:a(?:b(?:c)?)?)?z`,
	} {
		examples := router.Regexp(expr).Examples()
		if len(examples) == 0 {
			t.Errorf("%s: no example", expr)
		}
		for _, s := range examples {
			if !regexp.MustCompile(`\A(?:`+expr+`)\z`).MatchString(s) || s == "" {
				t.Errorf("%s: bad example %q", expr, s)
			}
		}
	}
}

// Nested repetitions: building examples stays cheap although the text would become
// huge.
func TestExamplesOfHugeRegexpsStayCheap(t *testing.T) {
	for _, expr := range []string{`(a{1000}){1}`, `((((a{5}){5}){5}){5})`, `[^\x00-\x{10FFFF}]`, `\b`, `a^b`} {
		c, err := router.CompileRegexp(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
		}
		for _, s := range c.Examples() {
			if !c.Match(s) {
				t.Errorf("%s: bad example of %d bytes", expr, len(s))
			}
		}
	}
}
