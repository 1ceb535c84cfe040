package router

import (
	"cmp"
	"net/url"
	"strings"
)

// A form describes the segments that a parameter accepts: report-{id:int}.pdf has the
// prefix "report-", the suffix ".pdf" and the constraint int. The zero form accepts
// every non-empty segment.
type form struct {
	prefix, suffix string     // unescaped text around the value
	constraintName string     // "" if there is no constraint
	constraint     Constraint // the constraint with this name
}

// value returns the parameter's value in a segment. ok is false if the form does not
// accept the segment. A value is never empty, and prefix and suffix never overlap.
func (f *form) value(segment string) (value string, ok bool) {
	if len(segment) <= len(f.prefix)+len(f.suffix) ||
		!strings.HasPrefix(segment, f.prefix) || !strings.HasSuffix(segment, f.suffix) {
		return "", false
	}
	value = segment[len(f.prefix) : len(segment)-len(f.suffix)]
	return value, f.constraintName == "" || f.constraint.Match(value)
}

// with returns the value with the prefix and the suffix.
func (f *form) with(value string) string { return f.prefix + value + f.suffix }

// compare is negative if f takes precedence over g: a longer prefix, then a longer
// suffix, then a constraint is more specific. The other comparisons make the order
// total: different prefixes or suffixes of the same length exclude each other, and so
// do constraints, as far as their examples show.
func (f *form) compare(g *form) int {
	if c := f.compareText(g); c != 0 {
		return c
	}
	if f.constraintName == "" || g.constraintName == "" {
		return cmp.Compare(len(g.constraintName), len(f.constraintName))
	}
	return strings.Compare(f.constraintName, g.constraintName)
}

// compareText is compare without the constraints.
func (f *form) compareText(g *form) int {
	if c := cmp.Compare(len(g.prefix), len(f.prefix)); c != 0 {
		return c
	}
	if c := cmp.Compare(len(g.suffix), len(f.suffix)); c != 0 {
		return c
	}
	if c := strings.Compare(f.prefix, g.prefix); c != 0 {
		return c
	}
	return strings.Compare(f.suffix, g.suffix)
}

// String returns the form as in a pattern without the parameter's name:
// "report-{:int}.pdf".
func (f *form) String() string {
	inside := f.constraintName
	if inside != "" {
		inside = ":" + inside
	}
	return url.PathEscape(f.prefix) + "{" + inside + "}" + url.PathEscape(f.suffix)
}

// excludes reports whether no segment has both prefixes and both suffixes.
func (f *form) excludes(g *form) bool {
	before, after := min(len(f.prefix), len(g.prefix)), min(len(f.suffix), len(g.suffix))
	return f.prefix[:before] != g.prefix[:before] ||
		f.suffix[len(f.suffix)-after:] != g.suffix[len(g.suffix)-after:]
}

// union returns a form with the longer prefix and the longer suffix of both.
func (f *form) union(g *form) form {
	outer := form{prefix: f.prefix, suffix: f.suffix}
	if len(g.prefix) > len(outer.prefix) {
		outer.prefix = g.prefix
	}
	if len(g.suffix) > len(outer.suffix) {
		outer.suffix = g.suffix
	}
	return outer
}

// overlay replaces the ends of a segment with the prefix and the suffix. The length
// stays the same. A segment that is too short is returned unchanged.
func (f *form) overlay(segment string) string {
	if len(segment) <= len(f.prefix)+len(f.suffix) {
		return segment
	}
	return f.with(segment[len(f.prefix) : len(segment)-len(f.suffix)])
}
