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
	nodes       slab[node]
	leaves      slab[leaf]
	patterns    slab[pattern]
	texts       slab[string]
	endings     slab[methodPattern]
	edges       slab[edge]
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
		return unreadable(0, "the patterns name more than %d different methods", maxMethods)
	}
	rules := false
	for i := range p.segments {
		rules = rules || p.segments[i].rule != ""
	}
	if rules {
		if other, example := b.conflict(p); other != nil {
			return conflictMistake(other, example)
		}
		for i := range p.segments {
			if rule := p.segments[i].rule; rule != "" {
				b.used[rule] = true
			}
		}
	}
	place := b.place(p)
	if !rules && place.shares(p) { // then the whole way was there already
		d := dispute{p: p}
		d.overMethods(place)
		return conflictMistake(d.other, d.example)
	}
	b.put(place, p, set)
	if _, known := b.tree.allows[place.allow]; !known {
		b.tree.allows[place.allow] = b.tree.methods.allow(place.allow)
	}
	b.segments, p.segments = p.segments, nil
	return nil
}

// put adds a pattern that does not conflict with those of the leaf.
func (b *builder) put(l *leaf, p *pattern, set methodSet) {
	if len(p.methods) == 0 {
		l.anyMethod = p
		return
	}
	if l.methods == nil {
		l.methods = b.endings.slice(len(p.methods))[:0]
	}
	for _, method := range p.methods {
		l.methods = append(l.methods, methodPattern{method, p})
	}
	l.allow |= set
}

// place returns the leaf for a pattern and makes the way to it.
func (b *builder) place(p *pattern) *leaf {
	n := b.growRoot(p.host)
	capture := 0
	behindStretch := false
	for i := range p.segments {
		switch s := &p.segments[i]; s.kind {
		case literal:
			n = n.literals.grow(s.text, &b.nodes)
			continue
		case parameter:
			n = b.growParam(n, &s.form, capture)
		case stretch:
			n = b.growStretch(n, capture)
			if behindStretch && n.guard == 0 {
				b.tree.guards++
				n.guard = b.tree.guards
			}
			behindStretch = true
		case slash:
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

// root returns the node where the patterns of a host begin, nil for none.
func (t *tree) root(host string) *node {
	if host == "" {
		return t.anyHost
	}
	return t.hosts[host]
}

func (b *builder) growRoot(host string) *node {
	if n := b.tree.root(host); n != nil {
		return n
	}
	n := b.nodes.new()
	if host == "" {
		b.tree.anyHost = n
	} else {
		b.tree.hosts[host] = n
	}
	return n
}

func (b *builder) growStretch(n *node, capture int) *node {
	if n.stretch == nil {
		n.stretch = &edge{to: b.nodes.new(), capture: capture}
	}
	return n.stretch.to
}

func (b *builder) growLeaf(l **leaf) *leaf {
	if *l == nil {
		*l = b.leaves.new()
	}
	return *l
}

// growParam keeps the edges in the order of their forms.
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
		Problem:      fmt.Sprintf("conflicts with pattern %q: both match %q and neither is more specific", other.text, example),
	}
}
