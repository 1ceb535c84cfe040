package router

import (
	"net/url"
	"strings"
)

// A folded finds the pattern for a path whose letters have the wrong case. It is a
// table of the same patterns with their literal text in lower case, and paths are
// looked up in lower case. Its result is a guess, because constraints see values in
// another case. The corrected path therefore has to be looked up too.
type folded struct {
	table *Table[*pattern] // of the registered pattern
}

// newFolded returns the folded table of the endpoints' patterns. Of patterns
// that differ only in case, it has the first.
func newFolded(constraints Constraints, endpoints []*endpoint) *folded {
	lenient := Constraints{}
	for _, name := range constraints.names() {
		c, _ := constraints.find(name)
		lenient[name] = Constraint{accepts: func(s string) bool {
			return c.Match(s) || c.Match(strings.ToUpper(s))
		}}
	}
	b := newBuilder(lenient)
	var entries []Entry[*pattern]
	for _, e := range endpoints {
		p, m := parsePattern(e.pattern(), constraints)
		if m != nil {
			continue
		}
		if lower := lowerPattern(p.text); b.add(lower, len(entries)) == nil {
			entries = append(entries, Entry[*pattern]{lower, p})
		}
	}
	return &folded{newTable(b, entries)}
}

// correct returns an escaped path that had no match, with its literal text in the case
// of the most likely pattern; "" if there is none.
func (f *folded) correct(method, host, escaped string) string {
	var p Params
	e, _ := f.table.Lookup(method, host, "", lowerPath(escaped), &p)
	if e == nil {
		return ""
	}
	return e.Value.respell(escaped, &p)
}

// lowerPattern returns a pattern with its literal text in lower case.
func lowerPattern(text string) string {
	_, at, _ := cutBlank(text)
	at += strings.IndexByte(text[at:], '/')
	segments := strings.Split(text[at:], "/")
	for i, s := range segments {
		open, end := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
		if open < 0 || end < open {
			segments[i] = lowerSegment(s)
			continue
		}
		segments[i] = lowerSegment(s[:open]) + s[open:end+1] + lowerSegment(s[end+1:])
	}
	return text[:at] + strings.Join(segments, "/")
}

// lowerPath returns an escaped path in lower case.
func lowerPath(escaped string) string {
	segments := strings.Split(escaped, "/")
	for i, s := range segments {
		segments[i] = lowerSegment(s)
	}
	return strings.Join(segments, "/")
}

// lowerSegment returns an escaped segment with its ASCII letters in lower case,
// including escaped ones. Its unescaped length does not change, and neither do bytes
// that are not UTF-8.
func lowerSegment(escaped string) string {
	text := []byte(unescape(escaped))
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c | 0x20
		}
	}
	return url.PathEscape(string(text))
}

// respell returns an escaped path that p matches except for the case of its literal
// text, in the case of p. values are the parameters. Everything else stays unchanged.
func (p *pattern) respell(escaped string, values *Params) string {
	var b strings.Builder
	left := escaped[1:]
	next := func() (segment string) {
		segment, left, _ = strings.Cut(left, "/")
		return segment
	}
	captured := 0
	for _, s := range p.segments {
		b.WriteByte('/')
		switch s.kind {
		case literal:
			b.WriteString(spelled(next(), s.text))
			continue
		case finalSlash:
		case rest:
			b.WriteString(left)
		case middleWildcard:
			value := values.value(captured)
			segment := next()
			b.WriteString(segment)
			for n := len(unescape(segment)); n < len(value); n += 1 + len(unescape(segment)) {
				segment = next()
				b.WriteString("/" + segment)
			}
		default:
			segment := next()
			text := unescape(segment)
			b.WriteString(spelled(segment, s.with(text[len(s.prefix):len(text)-len(s.suffix)])))
		}
		captured++
	}
	return b.String()
}

// spelled returns the escaped segment if it means text, otherwise text escaped.
func spelled(escaped, text string) string {
	if unescape(escaped) == text {
		return escaped
	}
	return url.PathEscape(text)
}
