package router

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// A Constraint says which segments a parameter accepts. It is an immutable
// value that goroutines may share. The zero Constraint accepts nothing.
//
// A constraint carries a few segments that it accepts. They are what shows
// that two constraints at the same place of two patterns overlap.
type Constraint struct {
	accepts  func(segment string) bool
	examples []string
	costly   bool // holds a regular expression: not to be asked twice about one segment
}

// Match reports whether the constraint accepts a segment, which is given
// unescaped. It is safe with any bytes, and with any number of them. No
// constraint is asked about an empty segment while routing.
func (c Constraint) Match(segment string) bool {
	return c.accepts != nil && c.accepts(segment)
}

// Constraints are constraints by the name that patterns use: {id:uuid}. The
// names uuid, ipv4, ipv6, int, uint, hex, slug, word, date and base64url are
// always there and need not be listed; listing one replaces it.
type Constraints map[string]Constraint

// builtin is never written to.
var builtin = Constraints{
	"uuid": UUID, "ipv4": IPv4, "ipv6": IPv6, "int": Int, "uint": Uint,
	"hex": Hex, "slug": Slug, "word": Word, "date": Date, "base64url": Base64URL,
}

func (cs Constraints) find(name string) (Constraint, bool) {
	if c, ok := cs[name]; ok {
		return c, true
	}
	c, ok := builtin[name]
	return c, ok
}

// names returns the names of all constraints, the built-in ones included.
func (cs Constraints) names() []string {
	all := maps.Clone(builtin)
	maps.Copy(all, cs)
	return slices.Sorted(maps.Keys(all))
}

// Regexp returns a constraint that accepts the segments that expr matches as
// a whole: expr is anchored at both ends, whether it says so or not. Its
// syntax is that of package regexp (RE2), and so is its bound: matching takes,
// at worst, the segment's length times the size of the expression, in which
// x{500} counts 500 times; 1000 is the most that a repetition may say. So it
// takes an expression that a stranger wrote, not merely a segment, to make it
// slow. It panics when expr is not a regular expression; for one that comes
// from a file there is [CompileRegexp].
func Regexp(expr string) Constraint {
	c, err := CompileRegexp(expr)
	if err != nil {
		panic("router: " + err.Error())
	}
	return c
}

// CompileRegexp is [Regexp] for an expression that comes from a file or a
// person: it returns an error that quotes it.
func CompileRegexp(expr string) (Constraint, error) {
	// Compiled alone first: an error about the anchored form would quote
	// text that nobody wrote, and "a)(b" would become valid.
	if _, err := regexp.Compile(expr); err != nil {
		return Constraint{}, fmt.Errorf("constraint %q: %w", expr, err)
	}
	re, err := regexp.Compile(`\A(?:` + expr + `)\z`)
	if err != nil {
		return Constraint{}, fmt.Errorf("constraint %q: %w", expr, err)
	}
	return Constraint{accepts: re.MatchString, examples: regexpExamples(expr, re), costly: true}, nil
}
