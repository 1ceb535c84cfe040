package router

import (
	"cmp"
	"net/url"
	"strings"
)

// A form is what a segment of a request has to look like to become the value
// of a parameter: report-{id:int}.pdf has the prefix "report-", the suffix
// ".pdf" and the constraint int. The zero form takes every segment that is
// not empty.
type form struct {
	prefix, suffix string     // literal text around the value, unescaped
	constraintName string     // the constraint's name, "" for none
	constraint     Constraint // of a form with a rule
}

// value returns what the parameter gets of a segment. ok is false when the
// segment is of another form. A value is never empty, and prefix and suffix
// never share a byte of the segment.
func (f *form) value(segment string) (value string, ok bool) {
	if len(segment) <= len(f.prefix)+len(f.suffix) ||
		!strings.HasPrefix(segment, f.prefix) || !strings.HasSuffix(segment, f.suffix) {
		return "", false
	}
	value = segment[len(f.prefix) : len(segment)-len(f.suffix)]
	return value, f.constraintName == "" || f.constraint.Match(value)
}

// with puts the text of the form around a value.
func (f *form) with(value string) string { return f.prefix + value + f.suffix }

// compare is negative when f takes precedence over g: the more text stands
// before the value, then behind it, the more specific is a form; then a
// constraint comes before none. What else it compares makes the order total:
// texts of one length that differ exclude each other, and so do, as far as
// examples show, constraints.
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

// String returns the form as patterns write it, without the parameter's name:
// "report-{:int}.pdf".
func (f *form) String() string {
	inside := f.constraintName
	if inside != "" {
		inside = ":" + inside
	}
	return url.PathEscape(f.prefix) + "{" + inside + "}" + url.PathEscape(f.suffix)
}

// apart reports whether no segment has the text of both forms.
func (f *form) excludes(g *form) bool {
	before, after := min(len(f.prefix), len(g.prefix)), min(len(f.suffix), len(g.suffix))
	return f.prefix[:before] != g.prefix[:before] ||
		f.suffix[len(f.suffix)-after:] != g.suffix[len(g.suffix)-after:]
}

// around returns the form whose text is the longer one of both at each end.
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

// over writes the text of the form over the ends of a segment, which becomes
// neither longer nor shorter. A segment that is too short stays as it is.
func (f *form) overlay(segment string) string {
	if len(segment) <= len(f.prefix)+len(f.suffix) {
		return segment
	}
	return f.with(segment[len(f.prefix) : len(segment)-len(f.suffix)])
}
