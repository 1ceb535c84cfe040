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
// found by walking both patterns at once (type common).

// conflict returns the first pattern that p, whose leaf is given, cannot be
// ordered with and a request that both match; nil when there is none.
func (b *builder) conflict(p *pattern, place *leaf) (other *pattern, example string) {
	consider := func(q *pattern, path string) {
		method, both := commonMethod(p, q)
		if both && (other == nil || q.entry < other.entry) {
			other, example = q, method+" "+p.host+path
		}
	}
	for _, q := range place.patterns() {
		if len(p.methods) == 0 == (len(q.methods) == 0) && shareMethod(p, q) {
			consider(q, examplePath(p.segments))
		}
	}
	n := b.root(p.host)
	for i, s := range p.segments {
		if s.kind == slash || s.kind == rest {
			break // the last one, which leads to no node
		}
		for _, q := range n.rivals(s) {
			c := common{p: p.segments[i:], q: q.segments[i:]}
			if tokens, ok := c.tokens(0, 0, exampleTokens(p.segments[:i])); ok {
				consider(q, joinTokens(tokens))
			}
		}
		n = n.next(s)
	}
	return other, example
}

// rivals returns the patterns that leave n by another constraint than s.
func (n *node) rivals(s segment) []*pattern {
	if s.kind != constrained {
		return nil
	}
	var all []*pattern
	for i := range n.constrained {
		if n.constrained[i].rule != s.rule {
			all = n.constrained[i].to.below(all)
		}
	}
	return all
}

// next returns the node that s leads to; it is there.
func (n *node) next(s segment) *node {
	switch s.kind {
	case literal:
		return n.literals.find(s.text)
	case constrained:
		return n.growConstrained(s, 0)
	case free:
		return n.free.to
	default:
		return n.stretch.to
	}
}

// shareMethod reports whether two patterns of one leaf take the same method
// in the same way: HEAD by name and HEAD by GET are ordered.
func shareMethod(p, q *pattern) bool {
	if len(p.methods) == 0 {
		return true
	}
	return slices.ContainsFunc(p.methods, func(m string) bool { return slices.Contains(q.methods, m) })
}

// commonMethod returns a method that both patterns take.
func commonMethod(p, q *pattern) (string, bool) {
	candidates := slices.Concat([]string{"GET"}, p.methods, q.methods, []string{"HEAD"})
	for _, m := range candidates {
		if p.takes(m) && q.takes(m) {
			return m, true
		}
	}
	return "", false
}

func (p *pattern) takes(method string) bool {
	return len(p.methods) == 0 || slices.Contains(p.methods, method) ||
		method == "HEAD" && slices.Contains(p.methods, "GET")
}

// common finds segments of a request, here called tokens, that two patterns
// both match. Its work is bounded by the product of their lengths.
type common struct {
	p, q []segment
	seen map[[2]int]bool // pairs of places from which there is no way
}

// tokens appends to prefix what p from i on and q from k on both match.
func (c *common) tokens(i, k int, prefix []string) ([]string, bool) {
	if i == len(c.p) || k == len(c.q) {
		return prefix, i == len(c.p) && k == len(c.q)
	}
	token, ok := commonToken(c.p[i], c.q[k])
	if !ok || c.seen[[2]int{i, k}] {
		return nil, false
	}
	prefix = append(slices.Clip(prefix), token)
	if all, ok := c.tokens(i+1, k+1, prefix); ok {
		return all, true
	}
	if c.p[i].many() {
		if all, ok := c.tokens(i, k+1, prefix); ok {
			return all, true
		}
	}
	if c.q[k].many() {
		if all, ok := c.tokens(i+1, k, prefix); ok {
			return all, true
		}
	}
	if c.seen == nil {
		c.seen = map[[2]int]bool{}
	}
	c.seen[[2]int{i, k}] = true
	return nil, false
}

// many reports whether the segment may take several of a request.
func (s segment) many() bool { return s.kind == stretch || s.kind == rest }

// commonToken returns one segment of a request that both may take.
func commonToken(p, q segment) (string, bool) {
	for _, token := range slices.Concat(p.examples(), q.examples()) {
		if p.admits(token) && q.admits(token) {
			return token, true
		}
	}
	return "", false
}

func (s segment) examples() []string {
	switch s.kind {
	case literal:
		return []string{s.text}
	case constrained:
		return s.constraint.examples
	case free, stretch:
		return []string{s.name}
	default:
		return []string{""}
	}
}

// admits reports whether the segment may take this one segment of a request.
func (s segment) admits(token string) bool {
	switch s.kind {
	case literal:
		return token == s.text
	case constrained:
		return s.constraint.Match(token)
	case free, stretch:
		return token != ""
	case slash:
		return token == ""
	default:
		return true
	}
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

func examplePath(segments []segment) string { return joinTokens(exampleTokens(segments)) }

func joinTokens(tokens []string) string {
	escaped := make([]string, len(tokens))
	for i, token := range tokens {
		escaped[i] = url.PathEscape(token)
	}
	return "/" + strings.Join(escaped, "/")
}
