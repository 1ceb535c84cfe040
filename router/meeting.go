package router

import "slices"

// A meeting walks a pattern and a part of the tree at once and reports the
// patterns that it meets there: those that match a request which p matches
// too. Its work is bounded by the length of the pattern times that part's
// size. The segments of such a request are called tokens.
type meeting struct {
	p      []segment
	report func(q *pattern, path string)
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

// rivals walks the branches of n whose constraints are other than p[i].
func (m *meeting) rivals(n *node, i int, tokens []string) {
	for k := range n.constrained {
		if e := &n.constrained[k]; e.rule != m.p[i].rule {
			m.along(e.branch(), i, tokens)
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
	for _, b := range n.branches(m.p[i]) {
		m.along(b, i, tokens)
	}
}

// along lets p[i] and the branch take the same token. Then each goes on, but
// one that may take more can stay.
func (m *meeting) along(b branch, i int, tokens []string) {
	if i == len(m.p) {
		return
	}
	token, ok := commonToken(m.p[i], b.segment)
	if !ok {
		return
	}
	tokens = append(slices.Clip(tokens), token)
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
		m.report(q, joinTokens(tokens))
	}
}

// branches returns those branches of n which might take a token that s takes.
func (n *node) branches(s segment) []branch {
	var all []branch
	switch s.kind {
	case literal:
		if to := n.literals.find(s.text); to != nil {
			all = append(all, branch{segment: s, to: to})
		}
	default:
		for _, c := range n.literals.list {
			all = append(all, branch{segment: segment{kind: literal, text: c.text}, to: c.to})
		}
	}
	for i := range n.constrained {
		all = append(all, n.constrained[i].branch())
	}
	if n.slash != nil {
		all = append(all, branch{segment: segment{kind: slash}, leaf: n.slash})
	}
	if n.free != nil {
		all = append(all, branch{segment: segment{kind: free, name: "x"}, to: n.free.to})
	}
	if n.stretch != nil {
		all = append(all, branch{segment: segment{kind: stretch, name: "x"}, to: n.stretch.to})
	}
	if n.rest != nil {
		all = append(all, branch{segment: segment{kind: rest}, leaf: &n.rest.leaf})
	}
	return all
}

// branch returns a constrained edge as a branch.
func (e *edge) branch() branch {
	return branch{segment: segment{kind: constrained, rule: e.rule, constraint: e.constraint}, to: e.to}
}

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
