package router

import (
	"cmp"
	"fmt"
	"slices"
)

// A tree is the compiled form of a set of patterns. Nobody writes to it once
// its builder is done.
type tree struct {
	hosts   map[string]*node // by canonical host
	anyHost *node            // nil: no pattern is without a host
	methods methodNames
	allows  map[methodSet]string // Allow headers made beforehand
	params  int                  // the most parameters that a pattern has
	guards  int                  // how many nodes have a guard
}

// A builder adds patterns to a tree. It is not safe for concurrent use.
type builder struct {
	constraints Constraints
	used        map[string]bool // the constraints that patterns name
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
	p, m := parsePattern(text, b.constraints)
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
	place := b.place(p)
	if other, example := b.conflict(p, place); other != nil {
		return conflictMistake(other, example)
	}
	b.tree.params = max(b.tree.params, len(p.names))
	for _, s := range p.segments {
		b.used[s.rule] = true
	}
	place.put(p, set)
	b.tree.allows[place.allow] = b.tree.methods.allow(place.allow)
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
	n := b.root(p.host)
	capture := 0
	behindStretch := false
	for _, s := range p.segments {
		switch s.kind {
		case literal:
			n = n.literals.grow(s.text)
			continue
		case constrained:
			n = n.growConstrained(s, capture)
		case free:
			n = grow(&n.free, capture)
		case stretch:
			n = grow(&n.stretch, capture)
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

func (b *builder) root(host string) *node {
	if host == "" {
		if b.tree.anyHost == nil {
			b.tree.anyHost = &node{}
		}
		return b.tree.anyHost
	}
	if b.tree.hosts[host] == nil {
		b.tree.hosts[host] = &node{}
	}
	return b.tree.hosts[host]
}

func grow(e **edge, capture int) *node {
	if *e == nil {
		*e = &edge{to: &node{}, capture: capture}
	}
	return (*e).to
}

func growLeaf(l **leaf) *leaf {
	if *l == nil {
		*l = &leaf{}
	}
	return *l
}

// growConstrained keeps the edges sorted by the constraints' names, which is
// the order in which constraints that no example shows to overlap are tried.
func (n *node) growConstrained(s segment, capture int) *node {
	i, found := slices.BinarySearchFunc(n.constrained, s.rule, func(e edge, rule string) int {
		return cmp.Compare(e.rule, rule)
	})
	if !found {
		e := edge{to: &node{}, capture: capture, rule: s.rule, constraint: s.constraint}
		n.constrained = slices.Insert(n.constrained, i, e)
	}
	return n.constrained[i].to
}

func conflictMistake(other *pattern, example string) *Mistake {
	return &Mistake{
		Other:        other.entry,
		OtherPattern: other.text,
		Example:      example,
		Problem:      fmt.Sprintf("conflicts with pattern %q: both match %q and neither is more specific", other.text, example),
	}
}
