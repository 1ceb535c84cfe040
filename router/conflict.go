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
//   - a node that they leave by different constraints which both accept the
//     request's segment: /{a:int} and /{b:hex} with /1.
//
// In the second case everything behind the constraints has to have a request
// in common too: /{a:int}/x and /{b:hex}/y do not conflict. Whether it has is
// found by walking the pattern and the tree at once (type meeting).

// conflict returns the first pattern that p, whose leaf is given, cannot be
// ordered with and a request that both match; nil when there is none.
func (b *builder) conflict(p *pattern, place *leaf) (other *pattern, example string) {
	consider := func(q *pattern, method, path string) {
		if method != "" && (other == nil || q.entry < other.entry) {
			other, example = q, method+" "+p.host+path
		}
	}
	for _, q := range place.patterns() {
		consider(q, sharedMethod(p, q), joinTokens(exampleTokens(p.segments)))
	}
	n := b.root(p.host)
	for i, s := range p.segments {
		if s.kind == slash || s.kind == rest {
			break // the last one, which leads to no node
		}
		if s.kind == constrained {
			m := meeting{p: p.segments, report: func(q *pattern, path string) {
				consider(q, commonMethod(p, q), path)
			}}
			m.rivals(n, i, exampleTokens(p.segments[:i]))
		}
		n = n.next(s)
	}
	return other, example
}

// next returns the node that s leads to; it is there.
func (n *node) next(s segment) *node {
	switch s.kind {
	case literal:
		return n.literals.find(s.text)
	case constrained:
		i := slices.IndexFunc(n.constrained, func(e edge) bool { return e.rule == s.rule })
		return n.constrained[i].to
	case free:
		return n.free.to
	default:
		return n.stretch.to
	}
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
	for _, m := range slices.Concat([]string{"GET"}, p.methods, q.methods, []string{"HEAD"}) {
		if p.takes(m) && q.takes(m) {
			return m
		}
	}
	return ""
}

func (p *pattern) takes(method string) bool {
	return len(p.methods) == 0 || slices.Contains(p.methods, method) ||
		method == "HEAD" && slices.Contains(p.methods, "GET")
}

// exampleTokens returns the shortest request that the segments match, one
// token each. A constraint without examples stands for itself.
func exampleTokens(segments []segment) []string {
	var tokens []string
	for _, s := range segments {
		token := "{" + s.name + ":" + s.rule + "}"
		if all := s.examples(); len(all) > 0 {
			token = all[0]
		}
		tokens = append(tokens, token)
	}
	return tokens
}

func joinTokens(tokens []string) string {
	escaped := make([]string, len(tokens))
	for i, token := range tokens {
		escaped[i] = url.PathEscape(token)
	}
	return "/" + strings.Join(escaped, "/")
}
