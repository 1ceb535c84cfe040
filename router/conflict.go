package router

import (
	"net/url"
	"slices"
	"strings"
)

// Two patterns cannot be ordered when a request exists that both match and
// that takes them the same way through the tree, up to
//
//   - the same leaf, where both take the request's method, or
//   - a node that they leave by different constraints, with the same text
//     around them, which both accept the request's segment: /{a:int} and
//     /{b:hex} with /1, /v{a:int} and /v{b:hex} with /v1.
//
// In the second case everything behind the constraints has to have a request
// in common too: /{a:int}/x and /{b:hex}/y do not conflict. Whether it has is
// found by walking the pattern and the tree at once (type meeting).

// A dispute is the search for a conflict of p.
type conflictSearch struct {
	p       *pattern
	other   *pattern // the first pattern that p cannot be ordered with, nil for none
	example string   // a request that both match
}

// conflict returns the first pattern that p cannot be ordered with and a
// request that both match; nil when there is none.
func (t *tree) conflict(p *pattern) (other *pattern, example string) {
	d := conflictSearch{p: p}
	n := t.root(p.host)
	for i := range p.segments {
		s := &p.segments[i]
		if n == nil {
			return d.other, d.example // no pattern comes further along with p
		}
		if s.constraintName != "" {
			d.atConstraint(n, i)
		}
		if s.kind == finalSlash || s.kind == rest {
			break // the last one, which leads to no node
		}
		n = n.next(s)
	}
	d.atLeaf(n.leafFor(p.segments))
	return d.other, d.example
}

// overConstraints meets the patterns that leave n by another constraint than
// p does with its i-th segment.
func (d *conflictSearch) atConstraint(n *node, i int) {
	newIntersection(d.p.segments, func(q *pattern, tokens []string) {
		if method := commonMethod(d.p, q); method != "" {
			d.add(q, method, func() []string { return append(exampleTokens(d.p.segments[:i]), escaped(tokens)...) })
		}
	}).alternatives(n, i)
}

// overMethods meets the patterns of the leaf that p comes to.
func (d *conflictSearch) atLeaf(l *leaf) {
	for _, q := range l.patterns() {
		if method := sharedMethod(d.p, q); method != "" {
			d.add(q, method, func() []string { return exampleTokens(d.p.segments) })
		}
	}
}

// consider keeps q if it was added before the other one. The tokens are those
// of a request that both match.
func (d *conflictSearch) add(q *pattern, method string, tokens func() []string) {
	if d.other == nil || q.entry < d.other.entry {
		d.other, d.example = q, method+" "+d.p.host+"/"+strings.Join(tokens(), "/")
	}
}

// next returns the node that s leads to, nil for none.
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

// place returns the leaf at n, the last node of a pattern with the given
// segments; nil for none.
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

// shares reports whether a pattern of the leaf takes a method in the same way
// as p does.
func (l *leaf) hasMethodOf(p *pattern) bool {
	return len(p.methods) == 0 && l.anyMethod != nil || slices.ContainsFunc(p.methods, l.names)
}

// sharedMethod returns a method that two patterns of one leaf take in the
// same way, "" for none: a list of methods comes before none, and HEAD by name
// before HEAD by GET.
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

// commonMethod returns a method that both patterns take, "" for none.
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

// exampleTokens returns the shortest request that the segments match, one
// escaped token each. A constraint without examples stands for itself.
func exampleTokens(segments []segment) []string {
	tokens := make([]string, len(segments))
	for i := range segments {
		s := &segments[i]
		if s.examples() > 0 {
			tokens[i] = url.PathEscape(s.example(0))
		} else {
			tokens[i] = url.PathEscape(s.prefix) + "{" + s.name + ":" + s.constraintName + "}" + url.PathEscape(s.suffix)
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
