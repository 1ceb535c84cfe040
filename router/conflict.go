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

// conflict returns the first pattern that p cannot be ordered with and a
// request that both match; nil when there is none.
func (b *builder) conflict(p *pattern) (other *pattern, example string) {
	consider := func(q *pattern, method, path string) {
		if method != "" && (other == nil || q.entry < other.entry) {
			other, example = q, method+" "+p.host+path
		}
	}
	n := b.tree.root(p.host)
	for i, s := range p.segments {
		if n == nil {
			return other, example // no pattern comes further along with p
		}
		if s.rule != "" {
			m := meeting{p: p.segments, report: func(q *pattern, path string) {
				consider(q, commonMethod(p, q), path)
			}}
			m.rivals(n, i, exampleTokens(p.segments[:i]))
		}
		if s.kind == slash || s.kind == rest {
			break // the last one, which leads to no node
		}
		n = n.next(s)
	}
	for _, q := range n.place(p.segments).patterns() {
		consider(q, sharedMethod(p, q), joinTokens(exampleTokens(p.segments)))
	}
	return other, example
}

// next returns the node that s leads to, nil for none.
func (n *node) next(s segment) *node {
	switch s.kind {
	case literal:
		return n.literals.find(s.text)
	case parameter:
		if i, found := n.findParam(&s.form); found {
			return n.params[i].to
		}
	default:
		if n.stretch != nil {
			return n.stretch.to
		}
	}
	return nil
}

// place returns the leaf at n, the last node of a pattern with the given
// segments; nil for none.
func (n *node) place(segments []segment) *leaf {
	switch {
	case n == nil:
		return nil
	case segments[len(segments)-1].kind == slash:
		return n.slash
	case segments[len(segments)-1].kind != rest:
		return n.leaf
	case n.rest == nil:
		return nil
	}
	return &n.rest.leaf
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
		token := s.with("{" + s.name + ":" + s.rule + "}")
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
