package router

import (
	"net/url"
	"slices"
	"strings"
)

// Two patterns conflict if a request exists that both match and that takes them along
// the same path through the tree, up to
//
//   - the same leaf, where both take the request's method, or
//   - a node that they leave by different constraints with the same prefix and suffix,
//     which both accept the request's segment: /{a:int} and /{b:hex} with /1, /v{a:int}
//     and /v{b:hex} with /v1.
//
// In the second case, a request must also exist that matches both patterns after the
// constraints: /{a:int}/x and /{b:hex}/y do not conflict. This is decided by the type
// intersection, which walks the pattern and the tree together.

// A conflictSearch looks for a conflict of p.
type conflictSearch struct {
	p        *pattern
	segments []segment // of p, with the wildcard of its host
	other    *pattern  // the first pattern that p conflicts with, nil if none
	example  string    // a request that both match
}

func newConflictSearch(p *pattern) conflictSearch {
	return conflictSearch{p: p, segments: p.withLabel()}
}

// conflict returns the first pattern that p conflicts with and a request that both
// match; nil if there is none.
func (t *tree) conflict(p *pattern) (other *pattern, example string) {
	d := newConflictSearch(p)
	n := t.root(p)
	for i := range d.segments {
		s := &d.segments[i]
		if n == nil {
			return d.other, d.example // no pattern shares more segments with p
		}
		if s.constraintName != "" {
			d.checkConstraint(n, i)
		}
		if s.kind == finalSlash || s.kind == rest {
			break // the last segment, which has no node
		}
		n = n.next(s)
	}
	d.checkLeaf(n.leafFor(d.segments))
	return d.other, d.example
}

// checkConstraint finds the conflicts with patterns that leave n by another constraint
// than the i-th segment of p.
func (d *conflictSearch) checkConstraint(n *node, i int) {
	newIntersection(d.segments, func(q *pattern, tokens []string) {
		if method := commonMethod(d.p, q); method != "" {
			d.add(q, method, func() []string { return append(exampleTokens(d.segments[:i]), escaped(tokens)...) })
		}
	}).walkAlternatives(n, i)
}

// checkLeaf finds the conflicts with the patterns of p's leaf.
func (d *conflictSearch) checkLeaf(l *leaf) {
	for _, q := range l.patterns() {
		if method := sharedMethod(d.p, q); method != "" {
			d.add(q, method, func() []string { return exampleTokens(d.segments) })
		}
	}
}

// add keeps q if it was registered before the pattern found so far. tokens returns the
// segments of a request that both match.
func (d *conflictSearch) add(q *pattern, method string, tokens func() []string) {
	if d.other == nil || q.entry < d.other.entry {
		list, host := tokens(), d.p.host
		if d.p.label != nil {
			list, host = list[1:], list[0]+"."+host
		}
		d.other, d.example = q, method+" "+host+"/"+strings.Join(list, "/")
	}
}

// next returns the child for s, nil if there is none.
func (n *node) next(s *segment) *node {
	switch s.kind {
	case literal:
		return n.literals.find(s.text)
	case parameter:
		if i, found := n.findParam(&s.form); found {
			return n.params[i].to
		}
	default:
		if n.middle != nil {
			return n.middle.to
		}
	}
	return nil
}

// leafFor returns the leaf at n, the last node of a pattern with the given segments;
// nil if there is none.
func (n *node) leafFor(segments []segment) *leaf {
	switch {
	case n == nil:
		return nil
	case segments[len(segments)-1].kind == finalSlash:
		return n.slash
	case segments[len(segments)-1].kind != rest:
		return n.leaf
	case n.rest == nil:
		return nil
	}
	return &n.rest.leaf
}

// hasMethodOf reports whether a pattern of the leaf has a method of p, or both have all
// methods.
func (l *leaf) hasMethodOf(p *pattern) bool {
	return len(p.methods) == 0 && l.anyMethod != nil || slices.ContainsFunc(p.methods, l.names)
}

// sharedMethod returns a method that two patterns of a leaf take with the same
// precedence, "" if there is none: named methods come before all methods, and a named
// HEAD before the HEAD of GET.
func sharedMethod(p, q *pattern) string {
	if len(p.methods) == 0 && len(q.methods) == 0 {
		return "GET"
	}
	for _, m := range p.methods {
		if slices.Contains(q.methods, m) {
			return m
		}
	}
	return ""
}

// commonMethod returns a method that both patterns take, "" if there is none.
func commonMethod(p, q *pattern) string {
	for _, list := range [...][]string{{"GET"}, p.methods, q.methods, {"HEAD"}} {
		for _, m := range list {
			if p.takes(m) && q.takes(m) {
				return m
			}
		}
	}
	return ""
}

func (p *pattern) takes(method string) bool {
	return len(p.methods) == 0 || slices.Contains(p.methods, method) ||
		method == "HEAD" && slices.Contains(p.methods, "GET")
}

// exampleTokens returns a request that the segments match, as escaped segments. A
// constraint without examples is written as in the pattern.
func exampleTokens(segments []segment) []string {
	tokens := make([]string, len(segments))
	for i := range segments {
		s := &segments[i]
		if s.examples() > 0 {
			tokens[i] = url.PathEscape(s.example(0))
		} else {
			tokens[i] = url.PathEscape(s.prefix) + "{" + s.name + ":" + s.constraintName + "}" +
				url.PathEscape(s.suffix)
		}
	}
	return tokens
}

func escaped(tokens []string) []string {
	all := make([]string, len(tokens))
	for i, token := range tokens {
		all[i] = url.PathEscape(token)
	}
	return all
}
