package router

import (
	"net/url"
	"slices"
)

// A meeting walks a pattern and a part of the tree at once and reports the
// patterns that it meets there: those that match a request which p matches
// too. Its work is bounded by the length of the pattern times that part's
// size. The segments of such a request are called tokens; those handed on are
// escaped.
type meeting struct {
	p      []segment
	report func(q *pattern, tokens []string)
	seen   map[meetingPlace]bool
}

type meetingPlace struct {
	n *node
	i int
}

// A branch is what leads away from a node: to another node or to a leaf.
type branch struct {
	segment segment
	to      *node
	leaf    *leaf
}

// rivals walks the branches of n that differ from p[i] in the constraint
// alone. n is where p comes to with its segments before the i-th.
func (m *meeting) rivals(n *node, i int) {
	f := &m.p[i].form
	first, _ := slices.BinarySearchFunc(n.params, f, func(e edge, f *form) int { return e.compareText(f) })
	for k := first; k < len(n.params); k++ {
		e := &n.params[k]
		if e.rule == "" || e.compareText(f) != 0 {
			return
		}
		if e.rule != f.rule {
			m.along(e.branch(), i, exampleTokens(m.p[:i]))
		}
	}
}

// at goes on from n with p from i on. The first tokens to come here do as
// well as any others.
func (m *meeting) at(n *node, i int, tokens []string) {
	place := meetingPlace{n, i}
	if m.seen[place] {
		return
	}
	if m.seen == nil {
		m.seen = map[meetingPlace]bool{}
	}
	m.seen[place] = true
	if i == len(m.p) {
		m.arrive(n.leaf, tokens)
		return
	}
	for _, b := range n.branches(&m.p[i]) {
		m.along(b, i, tokens)
	}
}

// along lets p[i] and the branch take the same token. Then each goes on, but
// one that may take more can stay.
func (m *meeting) along(b branch, i int, tokens []string) {
	if i == len(m.p) {
		return
	}
	token, ok := commonToken(&m.p[i], &b.segment)
	if !ok {
		return
	}
	tokens = append(slices.Clip(tokens), url.PathEscape(token))
	m.leave(b, i+1, tokens)
	if m.p[i].many() {
		m.leave(b, i, tokens)
	}
	if b.segment.many() {
		m.along(b, i+1, tokens)
	}
}

// leave goes to the end of the branch.
func (m *meeting) leave(b branch, i int, tokens []string) {
	switch {
	case b.to != nil:
		m.at(b.to, i, tokens)
	case i == len(m.p):
		m.arrive(b.leaf, tokens)
	}
}

func (m *meeting) arrive(l *leaf, tokens []string) {
	for _, q := range l.patterns() {
		m.report(q, tokens)
	}
}

// branches returns those branches of n which might take a token that s takes.
func (n *node) branches(s *segment) []branch {
	var all []branch
	switch s.kind {
	case literal:
		if to := n.literals.find(s.text); to != nil {
			all = append(all, branch{segment: *s, to: to})
		}
	default:
		for _, c := range n.literals.list {
			all = append(all, branch{segment: segment{kind: literal, text: c.text}, to: c.to})
		}
	}
	for i := range n.params {
		all = append(all, n.params[i].branch())
	}
	if n.slash != nil {
		all = append(all, branch{segment: segment{kind: slash}, leaf: n.slash})
	}
	if n.stretch != nil {
		all = append(all, branch{segment: segment{kind: stretch, name: "x"}, to: n.stretch.to})
	}
	if n.rest != nil {
		all = append(all, branch{segment: segment{kind: rest}, leaf: &n.rest.leaf})
	}
	return all
}

// branch returns the edge of a parameter as a branch.
func (e *edge) branch() branch {
	return branch{segment: segment{kind: parameter, name: "x", form: e.form}, to: e.to}
}

// commonToken returns one segment of a request that both may take. It finds
// none for some pairs of constraints that have one.
func commonToken(p, q *segment) (string, bool) {
	own := slices.Concat(p.examples(), q.examples())
	for _, token := range own {
		if p.admits(token) && q.admits(token) {
			return token, true
		}
	}
	if p.kind != parameter || q.kind != parameter || p.compareText(&q.form) == 0 {
		return "", false
	}
	// The texts differ. One may fit in the place of a part of the other's
	// example (2024-02-01 for {:date} and {}-01), or a value between the
	// longer ones at both ends (abxbc for ab{} and {}bc).
	outer := p.around(&q.form)
	for _, token := range own {
		if token = outer.over(token); p.admits(token) && q.admits(token) {
			return token, true
		}
	}
	for _, value := range slices.Concat(p.values(), q.values()) {
		if token := outer.with(value); p.admits(token) && q.admits(token) {
			return token, true
		}
	}
	return "", false
}

// examples returns segments of requests that s takes.
func (s *segment) examples() []string {
	switch s.kind {
	case literal:
		return []string{s.text}
	case parameter:
		all := slices.Clone(s.values())
		for i := range all {
			all[i] = s.with(all[i])
		}
		return all
	case stretch:
		return []string{s.name}
	default:
		return []string{""}
	}
}

// values returns values that a parameter accepts.
func (s *segment) values() []string {
	if s.rule == "" {
		return []string{s.name}
	}
	return s.constraint.examples
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
