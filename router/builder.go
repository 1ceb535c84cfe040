package router

import (
	"fmt"
	"slices"
)

// A tree is a set of patterns, which share what they begin with. Programs are
// compiled from it.
type tree struct {
	hosts   map[string]*node // by canonical host
	anyHost *node            // nil: no pattern is without a host
	methods methodNames
	allows  map[methodSet]string // Allow headers made beforehand
	guards  int                  // how many nodes have a guard
}

// A builder adds patterns to a tree. It is not safe for concurrent use.
type builder struct {
	constraints Constraints
	used        map[string]bool // the constraints that patterns name
	segments    []segment       // scratch: of the pattern that is being added
	tree        tree
}

func newBuilder(c Constraints) *builder {
	return &builder{constraints: c, used: map[string]bool{}, tree: tree{
		hosts:   map[string]*node{},
		methods: newMethodNames(),
		allows:  map[methodSet]string{},
	}}
}

// add puts a pattern into the tree. A pattern with a mistake leaves the tree
// as good as it was.
func (b *builder) add(text string, entry int) *Mistake {
	p, m := parsePattern(text, b.constraints, b.segments[:0])
	if m == nil {
		p.entry = entry
		m = b.insert(p)
	}
	if m != nil {
		m.Entry, m.Pattern = entry, text
	}
	return m
}

func (b *builder) insert(p *pattern) *Mistake {
	set, ok := b.tree.methods.set(p.methods)
	if !ok {
		return unreadable(0, "the patterns name more than %d different methods", maxMethods)
	}
	if other, example := b.conflict(p); other != nil {
		return conflictMistake(other, example)
	}
	for i := range p.segments {
		if rule := p.segments[i].rule; rule != "" {
			b.used[rule] = true
		}
	}
	place := b.place(p)
	place.put(p, set)
	if _, known := b.tree.allows[place.allow]; !known {
		b.tree.allows[place.allow] = b.tree.methods.allow(place.allow)
	}
	b.segments, p.segments = p.segments, nil
	return nil
}

// put adds a pattern that does not conflict with those of the leaf.
func (l *leaf) put(p *pattern, set methodSet) {
	if len(p.methods) == 0 {
		l.anyMethod = p
		return
	}
	for _, method := range p.methods {
		l.methods = append(l.methods, methodPattern{method, p})
	}
	l.allow |= set
}

// place returns the leaf for a pattern and makes the way to it.
func (b *builder) place(p *pattern) *leaf {
	n := b.tree.growRoot(p.host)
	capture := 0
	behindStretch := false
	for i := range p.segments {
		switch s := &p.segments[i]; s.kind {
		case literal:
			n = n.literals.grow(s.text)
			continue
		case parameter:
			n = n.growParam(&s.form, capture)
		case stretch:
			n = n.growStretch(capture)
			if behindStretch && n.guard == 0 {
				b.tree.guards++
				n.guard = b.tree.guards
			}
			behindStretch = true
		case slash:
			return growLeaf(&n.slash)
		case rest:
			if n.rest == nil {
				n.rest = &restLeaf{capture: capture}
			}
			return &n.rest.leaf
		}
		capture++
	}
	return growLeaf(&n.leaf)
}

// root returns the node where the patterns of a host begin, nil for none.
func (t *tree) root(host string) *node {
	if host == "" {
		return t.anyHost
	}
	return t.hosts[host]
}

func (t *tree) growRoot(host string) *node {
	if n := t.root(host); n != nil {
		return n
	}
	n := &node{}
	if host == "" {
		t.anyHost = n
	} else {
		t.hosts[host] = n
	}
	return n
}

func (n *node) growStretch(capture int) *node {
	if n.stretch == nil {
		n.stretch = &edge{to: &node{}, capture: capture}
	}
	return n.stretch.to
}

func growLeaf(l **leaf) *leaf {
	if *l == nil {
		*l = &leaf{}
	}
	return *l
}

// growParam keeps the edges in the order of their forms.
func (n *node) growParam(f *form, capture int) *node {
	i, found := n.findParam(f)
	if !found {
		n.params = slices.Insert(n.params, i, edge{to: &node{}, capture: capture, form: *f})
	}
	return n.params[i].to
}

func conflictMistake(other *pattern, example string) *Mistake {
	return &Mistake{
		Other:        other.entry,
		OtherPattern: other.text,
		Example:      example,
		Problem:      fmt.Sprintf("conflicts with pattern %q: both match %q and neither is more specific", other.text, example),
	}
}
