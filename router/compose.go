package router

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

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
