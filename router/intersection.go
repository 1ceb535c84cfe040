package router

import (
	"iter"
	"slices"
)

// A meeting walks a pattern and a part of the tree at once and reports the
// patterns that it meets there: those that match a request which p matches
// too. Its work is bounded by the length of the pattern times that part's
// size. Thousands of patterns below rival constraints ask for it thousands of
// times, nearly always in vain: so a way that leads nowhere allocates nothing.
type intersection struct {
	p      []segment
	report func(q *pattern, tokens []string) // which does not keep the tokens
	tokens []string                          // the request's segments so far, unescaped
	multi  int                               // how many wildcards for several segments p has, and the way through the tree
	seen   map[intersectionState]bool

	comparisons int // of two segments, for the test of the bound
}

// A meetingPlace is at a node or inside of a wildcard for several segments,
// with p from i on.
type intersectionState struct {
	n      *node
	leaf   *leaf // of a wildcard at the end
	inside bool
	i      int
}

// A branch is what leads away from a node: to another node or to a leaf.
type branch struct {
	segment segment
	to      *node
	leaf    *leaf
}

// newMeeting returns a meeting of a pattern with the given segments.
func newIntersection(segments []segment, report func(q *pattern, tokens []string)) *intersection {
	x := &intersection{p: segments, report: report}
	for i := range segments {
		if segments[i].multi() {
			x.multi++
		}
	}
	return x
}

// rivals walks the branches of n that differ from p[i] in the constraint
// alone. n is where p comes to with its segments before the i-th; the tokens
// reported begin with the i-th.
func (x *intersection) alternatives(n *node, i int) {
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

// at goes on from n with p from i on.
func (x *intersection) walk(n *node, i int) {
	switch {
	case x.multi > 1 && x.visited(intersectionState{n: n, i: i}):
	case i == len(x.p):
		x.reportLeaf(n.leaf)
	default:
		for b := range n.branches(&x.p[i]) {
			x.take(&b, i)
		}
	}
}

// metBefore reports whether the walk has been at a place: the first tokens to
// come there do as well as any others. It need not be asked with less than two
// wildcards on the way, because then only one way leads to each place.
func (x *intersection) visited(state intersectionState) bool {
	if x.seen == nil {
		x.seen = map[intersectionState]bool{}
	}
	known := len(x.seen)
	x.seen[state] = true
	return len(x.seen) == known
}

// along lets p[i] and the branch take the same token. Then each goes on, but
// one that may take more can stay.
func (x *intersection) take(b *branch, i int) {
	if i == len(x.p) || b.segment.multi() && x.multi > 0 && x.visited(b.inside(i)) {
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

// inside returns the place inside of the branch.
func (b *branch) inside(i int) intersectionState {
	return intersectionState{n: b.to, leaf: b.leaf, inside: true, i: i}
}

// leave goes to the end of the branch.
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

// branches yields those branches of n which might take a token that s takes.
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

// branch returns the edge of a parameter as a branch.
func (e *edge) branch() branch {
	return branch{segment: segment{kind: parameter, name: "x", form: e.form}, to: e.to}
}

// commonToken returns one segment of a request that both may take. It finds
// none for some pairs of constraints that have one.
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
	// The texts differ. One may fit in the place of a part of the other's
	// example (2024-02-01 for {:date} and {}-01), or a value between the
	// longer ones at both ends (abxbc for ab{} and {}bc).
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

// examples returns how many segments of requests are known that s takes.
func (s *segment) examples() int {
	if s.constraintName != "" {
		return len(s.constraint.examples)
	}
	return 1
}

// example returns one of them.
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

// exampleValue returns the value that a parameter gets of one of them.
func (s *segment) exampleValue(i int) string {
	if s.constraintName == "" {
		return s.name
	}
	return s.constraint.examples[i]
}

// admits reports whether the segment may take this one segment of a request.
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
