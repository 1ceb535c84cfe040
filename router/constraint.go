package router

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
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

// Any accepts the segments that at least one of the constraints accepts; of
// none it accepts nothing. Those that hold a regular expression are asked last.
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

// All accepts the segments that every one of the constraints accepts; of none
// it accepts everything. They are asked in the order given, so that those that
// cost little and refuse much go first; those that hold a regular expression
// are asked last all the same.
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

// Length accepts segments of min to max characters, as Unicode counts code
// points: "é" may be one of them or two. A byte that is no UTF-8 counts as
// one. It panics when min is greater than max or either is negative.
func Length(min, max int) Constraint {
	if min > max || min < 0 {
		panic(fmt.Sprintf("router: Length(%d, %d): want 0 <= min <= max", min, max))
	}
	fits := func(s string) bool {
		// The number of characters lies between a quarter of that of bytes
		// and that: a segment that is far too long is not looked at.
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

// cheapFirst returns a copy with the costly constraints behind the others.
// Constraints are pure, so that the order decides about nothing but time.
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

// Range accepts the decimal integers from min to max, written as [Int] has
// them: without a plus sign, perhaps with leading zeros. It panics when min is
// greater than max.
func Range(min, max int64) Constraint {
	if min > max {
		panic(fmt.Sprintf("router: Range(%d, %d): the least number is greater than the greatest", min, max))
	}
	inRange := func(s string) bool {
		n, ok := integer(s)
		return ok && min <= n && n <= max
	}
	return Constraint{accepts: inRange, examples: rangeExamples(min, max)}
}
