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
type meeting struct {
	p      []segment
	report func(q *pattern, tokens []string) // which does not keep the tokens
	tokens []string                          // the request's segments so far, unescaped
	many   int                               // how many wildcards for several segments p has, and the way through the tree
	seen   map[meetingPlace]bool

	comparisons int // of two segments, for the test of the bound
}

// A meetingPlace is at a node or inside of a wildcard for several segments,
// with p from i on.
type meetingPlace struct {
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
func newMeeting(segments []segment, report func(q *pattern, tokens []string)) *meeting {
	m := &meeting{p: segments, report: report}
	for i := range segments {
		if segments[i].many() {
			m.many++
		}
	}
	return m
}

// rivals walks the branches of n that differ from p[i] in the constraint
// alone. n is where p comes to with its segments before the i-th; the tokens
// reported begin with the i-th.
func (m *meeting) rivals(n *node, i int) {
	f := &m.p[i].form
	first, _ := slices.BinarySearchFunc(n.params, f, func(e edge, f *form) int { return e.compareText(f) })
	for k := first; k < len(n.params); k++ {
		e := &n.params[k]
		if e.rule == "" || e.compareText(f) != 0 {
			return
		}
		if e.rule != f.rule {
			b := e.branch()
			m.along(&b, i)
		}
	}
}

// at goes on from n with p from i on.
func (m *meeting) at(n *node, i int) {
	switch {
	case m.many > 1 && m.metBefore(meetingPlace{n: n, i: i}):
	case i == len(m.p):
		m.arrive(n.leaf)
	default:
		for b := range n.branches(&m.p[i]) {
			m.along(&b, i)
		}
	}
}

// metBefore reports whether the walk has been at a place: the first tokens to
// come there do as well as any others. It need not be asked with less than two
// wildcards on the way, because then only one way leads to each place.
func (m *meeting) metBefore(place meetingPlace) bool {
	if m.seen == nil {
		m.seen = map[meetingPlace]bool{}
	}
	known := len(m.seen)
	m.seen[place] = true
	return len(m.seen) == known
}

// along lets p[i] and the branch take the same token. Then each goes on, but
// one that may take more can stay.
func (m *meeting) along(b *branch, i int) {
	if i == len(m.p) || b.segment.many() && m.many > 0 && m.metBefore(b.inside(i)) {
		return
	}
	m.comparisons++
	token, ok := commonToken(&m.p[i], &b.segment)
	if !ok {
		return
	}
	m.tokens = append(m.tokens, token)
	m.leave(b, i+1)
	if m.p[i].many() {
		m.leave(b, i)
	}
	if b.segment.many() {
		m.along(b, i+1)
	}
	m.tokens = m.tokens[:len(m.tokens)-1]
}

// inside returns the place inside of the branch.
func (b *branch) inside(i int) meetingPlace {
	return meetingPlace{n: b.to, leaf: b.leaf, inside: true, i: i}
}

// leave goes to the end of the branch.
func (m *meeting) leave(b *branch, i int) {
	switch {
	case b.segment.kind == stretch:
		m.many++
		m.at(b.to, i)
		m.many--
	case b.to != nil:
		m.at(b.to, i)
	case i == len(m.p):
		m.arrive(b.leaf)
	}
}

func (m *meeting) arrive(l *leaf) {
	for _, q := range l.patterns() {
		m.report(q, m.tokens)
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
			going = yield(branch{segment: segment{kind: slash}, leaf: n.slash})
		}
		if n.stretch != nil && going {
			going = yield(branch{segment: segment{kind: stretch, name: "x"}, to: n.stretch.to})
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
func commonToken(p, q *segment) (string, bool) {
	switch {
	case p.kind == literal:
		return p.text, q.admits(p.text)
	case q.kind == literal:
		return q.text, p.admits(q.text)
	case p.kind == parameter && q.kind == parameter && p.apart(&q.form):
		return "", false
	}
	pair := [...]*segment{p, q}
	for _, s := range pair {
		for i := range s.examples() {
			if token := s.example(i); p.admits(token) && q.admits(token) {
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
	outer := p.around(&q.form)
	for _, s := range pair {
		for i := range s.examples() {
			for _, token := range [...]string{outer.over(s.example(i)), outer.with(s.exampleValue(i))} {
				if p.admits(token) && q.admits(token) {
					return token, true
				}
			}
		}
	}
	return "", false
}

// examples returns how many segments of requests are known that s takes.
func (s *segment) examples() int {
	if s.rule != "" {
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
	case stretch:
		return s.name
	default:
		return ""
	}
}

// exampleValue returns the value that a parameter gets of one of them.
func (s *segment) exampleValue(i int) string {
	if s.rule == "" {
		return s.name
	}
	return s.constraint.examples[i]
}

// admits reports whether the segment may take this one segment of a request.
func (s *segment) admits(token string) bool {
	switch s.kind {
	case literal:
		return token == s.text
	case parameter:
		_, ok := s.value(token)
		return ok
	case stretch:
		return token != ""
	case slash:
		return token == ""
	default:
		return true
	}
}
