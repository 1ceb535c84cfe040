package router

import (
	"fmt"
	"slices"
)

// A builder adds patterns to a tree. It is not safe for concurrent use.
type builder struct {
	constraints    Constraints
	used           map[string]bool // names of the constraints in patterns
	segments       []segment       // scratch: of the pattern being added
	nodes          slab[node]
	leaves         slab[leaf]
	patterns       slab[pattern]
	texts          slab[string]
	methodPatterns slab[methodPattern]
	edges          slab[edge]
	tree           tree
}

func newBuilder(c Constraints) *builder {
	return &builder{constraints: c, used: map[string]bool{}, tree: tree{
		hosts:    map[string]*node{},
		suffixes: map[string]*node{},
		methods:  newMethodNames(),
		allows:   map[methodSet]string{},
	}}
}

// add adds a pattern to the tree. A pattern with a mistake leaves the tree equivalent
// to before.
func (b *builder) add(text string, entry int) *Mistake {
	known := len(b.tree.methods)
	p := b.patterns.new()
	*p = pattern{text: text, entry: entry, segments: b.segments[:0]}
	m := p.parse(b.constraints, &b.texts)
	if m == nil {
		m = b.insert(p)
	}
	if m != nil {
		m.Entry, m.Pattern = entry, text
		b.tree.methods = b.tree.methods[:known]
	}
	return m
}

func (b *builder) insert(p *pattern) *Mistake {
	set, ok := b.tree.methods.set(p.methods)
	if !ok {
		return syntaxMistake(0, "the patterns name more than %d different methods", maxMethods)
	}
	constrained := p.label != nil && p.label.constraintName != ""
	for i := range p.segments {
		constrained = constrained || p.segments[i].constraintName != ""
	}
	if constrained {
		if other, example := b.tree.conflict(p); other != nil {
			return conflictMistake(other, example)
		}
		for _, s := range p.withLabel() {
			if s.constraintName != "" {
				b.used[s.constraintName] = true
			}
		}
	}
	l := b.growPath(p)
	if !constrained && l.hasMethodOf(p) { // the path to the leaf existed already
		d := newConflictSearch(p)
		d.checkLeaf(l)
		return conflictMistake(d.other, d.example)
	}
	b.put(l, p, set)
	if _, known := b.tree.allows[l.allow]; !known {
		b.tree.allows[l.allow] = b.tree.methods.allow(l.allow)
	}
	b.segments, p.segments = p.segments, nil
	return nil
}

// put adds a pattern without conflicts to a leaf.
func (b *builder) put(l *leaf, p *pattern, set methodSet) {
	if len(p.methods) == 0 {
		l.anyMethod = p
		return
	}
	if l.methods == nil {
		l.methods = b.methodPatterns.slice(len(p.methods))[:0]
	}
	for _, method := range p.methods {
		l.methods = append(l.methods, methodPattern{method, p})
	}
	l.allow |= set
}

// growPath returns the leaf for a pattern and creates the nodes on the path to it.
func (b *builder) growPath(p *pattern) *leaf {
	n := b.growRoot(p)
	if p.label != nil {
		n = b.growLabel(n, p.label)
	}
	capture := 0
	afterMiddle := false
	for i := range p.segments {
		switch s := &p.segments[i]; s.kind {
		case literal:
			n = n.literals.grow(s.text, &b.nodes)
			continue
		case parameter:
			n = b.growParam(n, &s.form, capture)
		case middleWildcard:
			n = b.growMiddle(n, capture)
			if afterMiddle && n.visitBit == 0 {
				b.tree.visitBits++
				n.visitBit = b.tree.visitBits
			}
			afterMiddle = true
		case finalSlash:
			return b.growLeaf(&n.slash)
		case rest:
			if n.rest == nil {
				n.rest = &restLeaf{capture: capture}
			}
			return &n.rest.leaf
		}
		capture++
	}
	return b.growLeaf(&n.leaf)
}

func (b *builder) growRoot(p *pattern) *node {
	n := b.tree.root(p)
	if n != nil {
		return n
	}
	n = b.nodes.new()
	switch {
	case p.label != nil:
		b.tree.suffixes[p.host] = n
	case p.host == "":
		b.tree.anyHost = n
	default:
		b.tree.hosts[p.host] = n
	}
	return n
}

// growLabel returns the node after the wildcard of a host. The value is no capture:
// * and {tenant} share an edge.
func (b *builder) growLabel(n *node, s *segment) *node {
	if s.kind == middleWildcard {
		return b.growMiddle(n, 0)
	}
	return b.growParam(n, &s.form, 0)
}

func (b *builder) growMiddle(n *node, capture int) *node {
	if n.middle == nil {
		n.middle = &edge{to: b.nodes.new(), capture: capture}
	}
	return n.middle.to
}

func (b *builder) growLeaf(l **leaf) *leaf {
	if *l == nil {
		*l = b.leaves.new()
	}
	return *l
}

// growParam keeps the edges ordered by their forms.
func (b *builder) growParam(n *node, f *form, capture int) *node {
	i, found := n.findParam(f)
	if n.params == nil {
		n.params = b.edges.slice(1)[:0]
	}
	if !found {
		n.params = slices.Insert(n.params, i, edge{to: b.nodes.new(), capture: capture, form: *f})
	}
	return n.params[i].to
}

func conflictMistake(other *pattern, example string) *Mistake {
	return &Mistake{
		Other:        other.entry,
		OtherPattern: other.text,
		Example:      example,
		Problem: fmt.Sprintf("conflicts with pattern %q: both match %q and neither is more specific",
			other.text, example),
	}
}
