package router

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// A Constraint decides which segments a parameter accepts. It is an immutable value
// that goroutines may share. The zero Constraint accepts nothing.
//
// A constraint has some examples of segments that it accepts. They reveal overlaps
// between two constraints at the same place in two patterns.
type Constraint struct {
	accepts  func(segment string) bool
	examples []string
	costly   bool // contains a regular expression: call accepts at most once per segment
}

// Match reports whether the constraint accepts an unescaped segment. The segment may
// contain any bytes and have any length. Routing never calls it with an empty segment.
func (c Constraint) Match(segment string) bool {
	return c.accepts != nil && c.accepts(segment)
}

// Regexp returns a constraint that accepts the segments that expr matches as a whole: expr is implicitly anchored
// at both ends, unlike in most programs. `\.sql$` accepts only the segment ".sql", and `(?s:.*)\.sql` all
// segments that end in it. Its syntax is the syntax of package regexp (RE2), and so is its bound: in the worst
// case, matching takes the length of the segment times the size of the expression, in which x{500} counts 500
// times; 1000 is the highest repetition. So only an untrusted expression can make matching slow, never an
// untrusted segment. Regexp panics if expr is not a regular expression; for an expression from a file use
// [CompileRegexp].
func Regexp(expr string) Constraint {
	c, err := CompileRegexp(expr)
	if err != nil {
		panic("router: " + err.Error())
	}
	return c
}

// CompileRegexp is [Regexp] for an expression from a file or a user. It returns an
// error that quotes the expression.
func CompileRegexp(expr string) (Constraint, error) {
	// Compile expr itself first: an error about the anchored form would quote text that
	// the user did not write, and "a)(b" would become valid.
	if _, err := regexp.Compile(expr); err != nil {
		return Constraint{}, fmt.Errorf("constraint %q: %w", expr, err)
	}
	re, err := regexp.Compile(`\A(?:` + expr + `)\z`)
	if err != nil {
		return Constraint{}, fmt.Errorf("constraint %q: %w", expr, err)
	}
	return Constraint{accepts: re.MatchString, examples: regexpExamples(expr, re), costly: true}, nil
}

// Any accepts the segments that at least one of the constraints accepts, and nothing if
// there are none. Constraints with a regular expression are tried last.
func Any(cs ...Constraint) Constraint {
	parts := cheapFirst(cs)
	return Constraint{
		accepts: func(s string) bool {
			for i := range parts {
				if parts[i].Match(s) {
					return true
				}
			}
			return false
		},
		examples: anyExamples(parts),
		costly:   slices.ContainsFunc(parts, Constraint.isCostly),
	}
}

// All accepts the segments that every constraint accepts, and everything if there are
// none. The constraints are tried in the given order, except that constraints with a
// regular expression are tried last. Put cheap constraints that reject much first.
func All(cs ...Constraint) Constraint {
	parts := cheapFirst(cs)
	c := Constraint{
		accepts: func(s string) bool {
			for i := range parts {
				if !parts[i].Match(s) {
					return false
				}
			}
			return true
		},
		costly: slices.ContainsFunc(parts, Constraint.isCostly),
	}
	c.examples = allExamples(parts, c.accepts)
	return c
}

// Length accepts segments of min to max Unicode code points: "é" may be one or two. A
// byte that is not UTF-8 counts as one. It panics if min is greater than max or either
// is negative.
func Length(min, max int) Constraint {
	if min > max || min < 0 {
		panic(fmt.Sprintf("router: Length(%d, %d): want 0 <= min <= max", min, max))
	}
	fits := func(s string) bool {
		// A character has one to four bytes: a far too long segment is rejected without
		// counting.
		if len(s) < min || len(s)/utf8.UTFMax > max {
			return false
		}
		n := len(s)
		if !isASCII(s) {
			n = utf8.RuneCountInString(s)
		}
		return min <= n && n <= max
	}
	return Constraint{accepts: fits, examples: lengthExamples(min, max)}
}

func (c Constraint) isCostly() bool { return c.costly }

// cheapFirst returns a copy with the costly constraints last. Constraints are pure, so
// the order affects only the time.
func cheapFirst(cs []Constraint) []Constraint {
	sorted := slices.Clone(cs)
	slices.SortStableFunc(sorted, func(a, b Constraint) int {
		switch {
		case a.costly == b.costly:
			return 0
		case b.costly:
			return -1
		}
		return 1
	})
	return sorted
}

// Range accepts the decimal integers from min to max in the format of [Int]: without a
// plus sign, possibly with leading zeros. It panics if min is greater than max.
func Range(min, max int64) Constraint {
	if min > max {
		panic(fmt.Sprintf("router: Range(%d, %d): want min <= max", min, max))
	}
	inRange := func(s string) bool {
		n, ok := integer(s)
		return ok && min <= n && n <= max
	}
	return Constraint{accepts: inRange, examples: rangeExamples(min, max)}
}
