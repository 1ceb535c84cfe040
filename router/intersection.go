package router

import (
	"iter"
	"slices"
)

// An intersection walks a pattern and a subtree together and reports the patterns in it
// that match a request which the pattern matches too. The work is bounded by the length
// of the pattern times the size of the subtree. Thousands of patterns below competing
// constraints need thousands of walks, and nearly all find nothing, so a walk that
// finds nothing does not allocate.
type intersection struct {
	p      []segment
	report func(q *pattern, tokens []string) // must not keep tokens
	tokens []string                          // the segments of the request so far, unescaped
	multi  int                               // number of {x...} in p and on the path through the tree
	seen   map[intersectionState]bool

	comparisons int // of two segments, to test the bound
}

// An intersectionState is a position in the search: a node, or inside its {x...}, and
// the index i of the next segment of p.
type intersectionState struct {
	n      *node
	leaf   *leaf // of a wildcard at the end
	inside bool
	i      int
}

// A branch leads from a node to another node or to a leaf.
type branch struct {
	segment segment
	to      *node
	leaf    *leaf
}

// newIntersection returns an intersection for a pattern with the given segments.
func newIntersection(segments []segment, report func(q *pattern, tokens []string)) *intersection {
	x := &intersection{p: segments, report: report}
	for i := range segments {
		if segments[i].multi() {
			x.multi++
		}
	}
	return x
}

// walkAlternatives walks the branches of n that differ from p[i] only in the
// constraint. n is the node of p before its i-th segment. The reported tokens begin
// with the i-th.
func (x *intersection) walkAlternatives(n *node, i int) {
	f := &x.p[i].form
	first, _ := slices.BinarySearchFunc(n.params, f, func(e edge, f *form) int { return e.compareText(f) })
	for k := first; k < len(n.params); k++ {
		e := &n.params[k]
		if e.constraintName == "" || e.compareText(f) != 0 {
			return
		}
		if e.constraintName != f.constraintName {
			b := e.branch()
			x.take(&b, i)
		}
	}
}

// walk continues at n with p from i on.
func (x *intersection) walk(n *node, i int) {
	switch {
	case x.multi > 1 && !x.markVisited(intersectionState{n: n, i: i}):
	case i == len(x.p):
		x.reportLeaf(n.leaf)
	default:
		for b := range n.branches(&x.p[i]) {
			x.take(&b, i)
		}
	}
}

// markVisited records a state and reports whether it is new: any tokens that lead to
// it are equivalent. With fewer than two {x...} on the path, only one path leads to each
// state, so it need not be called.
func (x *intersection) markVisited(state intersectionState) bool {
	if x.seen == nil {
		x.seen = map[intersectionState]bool{}
	}
	known := len(x.seen)
	x.seen[state] = true
	return len(x.seen) > known
}

// take lets p[i] and the branch take the same token. Both then continue; a {x...} can
// also stay to take more.
func (x *intersection) take(b *branch, i int) {
	if i == len(x.p) || b.segment.multi() && x.multi > 0 && !x.markVisited(b.inside(i)) {
		return
	}
	x.comparisons++
	token, ok := commonSegment(&x.p[i], &b.segment)
	if !ok {
		return
	}
	x.tokens = append(x.tokens, token)
	x.leaveBranch(b, i+1)
	if x.p[i].multi() {
		x.leaveBranch(b, i)
	}
	if b.segment.multi() {
		x.take(b, i+1)
	}
	x.tokens = x.tokens[:len(x.tokens)-1]
}

// inside returns the state within the branch.
func (b *branch) inside(i int) intersectionState {
	return intersectionState{n: b.to, leaf: b.leaf, inside: true, i: i}
}

// leaveBranch continues after the branch.
func (x *intersection) leaveBranch(b *branch, i int) {
	switch {
	case b.segment.kind == middleWildcard:
		x.multi++
		x.walk(b.to, i)
		x.multi--
	case b.to != nil:
		x.walk(b.to, i)
	case i == len(x.p):
		x.reportLeaf(b.leaf)
	}
}

func (x *intersection) reportLeaf(l *leaf) {
	for _, q := range l.patterns() {
		x.report(q, x.tokens)
	}
}

// branches yields the branches of n that may take a token which s takes.
func (n *node) branches(s *segment) iter.Seq[branch] {
	return func(yield func(branch) bool) {
		going := true
		if s.kind == literal {
			if to := n.literals.find(s.text); to != nil {
				going = yield(branch{segment: *s, to: to})
			}
		} else {
			for i := 0; i < len(n.literals.list) && going; i++ {
				c := &n.literals.list[i]
				going = yield(branch{segment: segment{kind: literal, text: c.text}, to: c.to})
			}
		}
		for i := 0; i < len(n.params) && going; i++ {
			going = yield(n.params[i].branch())
		}
		if n.slash != nil && going {
			going = yield(branch{segment: segment{kind: finalSlash}, leaf: n.slash})
		}
		if n.middle != nil && going {
			going = yield(branch{segment: segment{kind: middleWildcard, name: "x"}, to: n.middle.to})
		}
		if n.rest != nil && going {
			yield(branch{segment: segment{kind: rest}, leaf: &n.rest.leaf})
		}
	}
}

// branch returns the edge as a branch.
func (e *edge) branch() branch {
	return branch{segment: segment{kind: parameter, name: "x", form: e.form}, to: e.to}
}

// commonSegment returns a segment of a request that both may take. For some pairs of
// constraints it finds none although one exists.
func commonSegment(p, q *segment) (string, bool) {
	switch {
	case p.kind == literal:
		return p.text, q.matches(p.text)
	case q.kind == literal:
		return q.text, p.matches(q.text)
	case p.kind == parameter && q.kind == parameter && p.excludes(&q.form):
		return "", false
	}
	pair := [...]*segment{p, q}
	for _, s := range pair {
		for i := range s.examples() {
			if token := s.example(i); p.matches(token) && q.matches(token) {
				return token, true
			}
		}
	}
	if p.kind != parameter || q.kind != parameter || p.compareText(&q.form) == 0 {
		return "", false
	}
	// The texts around the parameters differ. Replace the ends of an example with them
	// (2024-02-01 for {:date} and {}-01), or put them around a value (abxbc for ab{}
	// and {}bc).
	outer := p.union(&q.form)
	for _, s := range pair {
		for i := range s.examples() {
			for _, token := range [...]string{outer.overlay(s.example(i)), outer.with(s.exampleValue(i))} {
				if p.matches(token) && q.matches(token) {
					return token, true
				}
			}
		}
	}
	return "", false
}

// examples returns the number of known example segments.
func (s *segment) examples() int {
	if s.constraintName != "" {
		return len(s.constraint.examples)
	}
	return 1
}

// example returns the i-th example segment.
func (s *segment) example(i int) string {
	switch s.kind {
	case literal:
		return s.text
	case parameter:
		return s.with(s.exampleValue(i))
	case middleWildcard:
		return s.name
	default:
		return ""
	}
}

// exampleValue returns the parameter's value in the i-th example.
func (s *segment) exampleValue(i int) string {
	if s.constraintName == "" {
		return s.name
	}
	return s.constraint.examples[i]
}

// matches reports whether the segment may take this one segment of a request.
func (s *segment) matches(token string) bool {
	switch s.kind {
	case literal:
		return token == s.text
	case parameter:
		_, ok := s.value(token)
		return ok
	case middleWildcard:
		return token != ""
	case finalSlash:
		return token == ""
	default:
		return true
	}
}
