package router

import (
	"slices"
	"strings"
)

// The tree of a table. A node stands for what the patterns that pass through
// it have in common at their beginning, an edge for one more segment:
//
//	/datasets/{uri...}
//	/{year:int}.csv
//	/{topic}/datasets/{uri...}
//	/{uri...}/datalist
//	/{path...}
//
//	datasets                       literals
//	  {...}                        rest of the node "datasets"
//	{:int}.csv                     params
//	{}                             params
//	  datasets
//	    {...}
//	{...}/                         stretch: its node may take more segments
//	  datalist
//	{...}                          rest of the root
//
// The edges of a node are tried in the order of their fields below, which is
// the order of precedence; the search is in search.go. Since every pattern is
// one way through a tree, a node belongs to exactly one chain of ancestors:
// so the place of a parameter among all parameters of a pattern is a property
// of the edge, and its value is known to be the capture-th one.

// A node is a place in the tree. Nodes change only while a builder adds
// patterns.
type node struct {
	leaf     *leaf // of the patterns that end here
	literals children
	params   []edge // in the order of their forms
	slash    *leaf  // {$}
	middle   *edge
	rest     *restLeaf

	// guard is, for the node behind a stretch that has another stretch
	// before it, its number among such nodes, from 1; else it is 0.
	visitBit int
}

// An edge leads to a node by a segment that becomes a parameter's value.
type edge struct {
	to      *node
	capture int // which of the pattern's values the segment is
	form        // zero for a stretch
}

// findParam returns the place of a form among the params and whether it is
// there.
func (n *node) findParam(f *form) (int, bool) {
	return slices.BinarySearchFunc(n.params, f, func(e edge, f *form) int { return e.compare(f) })
}

// A restLeaf holds the patterns that take all the rest of a path.
type restLeaf struct {
	leaf
	capture int
}

// A leaf holds the patterns that end at one place, which differ in their
// methods alone.
type leaf struct {
	anyMethod *pattern
	methods   []methodPattern
	allow     methodSet // what methods serve, HEAD by GET included
}

type methodPattern struct {
	method  string
	pattern *pattern
}

// names reports whether a pattern of the leaf names the method.
func (l *leaf) names(method string) bool {
	return slices.ContainsFunc(l.methods, func(mp methodPattern) bool { return mp.method == method })
}

// patterns returns every pattern of the leaf once.
func (l *leaf) patterns() []*pattern {
	if l == nil {
		return nil
	}
	var all []*pattern
	for _, mp := range l.methods {
		if len(all) == 0 || all[len(all)-1] != mp.pattern { // a pattern's methods stand together
			all = append(all, mp.pattern)
		}
	}
	if l.anyMethod != nil {
		all = append(all, l.anyMethod)
	}
	return all
}

// scanLimit is the number of literal edges up to which comparing one after
// the other is faster than a map. Most comparisons end at the lengths.
const scanLimit = 8

// children are the literal edges of a node.
type children struct {
	list  []child
	index map[string]*node // of all of list once it is longer than scanLimit
}

type child struct {
	text string
	to   *node
}

// find returns the node that text leads to, nil for none.
func (c *children) find(text string) *node {
	if c.index != nil {
		return c.index[text]
	}
	for i := range c.list {
		if c.list[i].text == text {
			return c.list[i].to
		}
	}
	return nil
}

// grow returns the node that text leads to and makes one if there is none.
func (c *children) grow(text string, nodes *slab[node]) *node {
	if to := c.find(text); to != nil {
		return to
	}
	to := nodes.new()
	c.list = append(c.list, child{text, to})
	switch {
	case c.index != nil:
		c.index[text] = to
	case len(c.list) > scanLimit:
		c.index = make(map[string]*node, len(c.list))
		for _, child := range c.list {
			c.index[child.text] = child.to
		}
	}
	return to
}

// sorted returns the edges by their text.
func (c *children) sorted() []child {
	return slices.SortedFunc(slices.Values(c.list), func(a, b child) int {
		return strings.Compare(a.text, b.text)
	})
}

// A tree is a set of patterns, which share what they begin with. Programs are
// compiled from it.
type tree struct {
	hosts     map[string]*node // by canonical host
	anyHost   *node            // nil: no pattern is without a host
	methods   methodNames
	allows    map[methodSet]string // Allow headers made beforehand
	visitBits int                  // how many nodes have a guard
}

// root returns the node where the patterns of a host begin, nil for none.
func (t *tree) root(host string) *node {
	if host == "" {
		return t.anyHost
	}
	return t.hosts[host]
}
