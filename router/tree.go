package router

import (
	"slices"
	"strings"
)

// The tree of a table. A node is a common prefix of patterns, and an edge is one more
// segment:
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
//	{...}/                         middle wildcard: its node may take more segments
//	  datalist
//	{...}                          rest of the root
//
// The edges of a node are tried in the order of the fields below, which is the order of
// precedence; search.go has the search. Every pattern is one path through the tree, so
// a node has exactly one chain of ancestors. The index of a parameter among the
// parameters of a pattern is therefore a property of the edge: its value is the
// capture-th one.

// A node is a node of the tree. Only a builder changes nodes.
type node struct {
	leaf     *leaf // the patterns that end here
	literals children
	params   []edge // ordered by form
	slash    *leaf  // {$}
	middle   *edge
	rest     *restLeaf

	// visitBit is the number of a node after a middle wildcard that has another one
	// before it, from 1; it is 0 for other nodes.
	visitBit int
}

// An edge leads to a node by a segment that is a parameter's value.
type edge struct {
	to      *node
	capture int // index of the value among the pattern's values
	form        // zero for a middle wildcard
}

// findParam returns the index of a form in params and whether it is there.
func (n *node) findParam(f *form) (int, bool) {
	return slices.BinarySearchFunc(n.params, f, func(e edge, f *form) int { return e.compare(f) })
}

// A restLeaf has the patterns that match the rest of a path.
type restLeaf struct {
	leaf
	capture int
}

// A leaf has the patterns that end at one place and differ only in their methods.
type leaf struct {
	anyMethod *pattern
	methods   []methodPattern
	allow     methodSet // includes HEAD if there is GET
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
		if len(all) == 0 || all[len(all)-1] != mp.pattern { // the methods of a pattern are adjacent
			all = append(all, mp.pattern)
		}
	}
	if l.anyMethod != nil {
		all = append(all, l.anyMethod)
	}
	return all
}

// scanLimit is the largest number of literal edges for which comparing them in turn is
// faster than a map. Most comparisons end at the lengths.
const scanLimit = 8

// children are the literal edges of a node.
type children struct {
	list  []child
	index map[string]*node // of all edges; nil up to scanLimit
}

type child struct {
	text string
	to   *node
}

// find returns the node for text, nil if there is none.
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

// grow returns the node for text and creates it if necessary.
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

// sorted returns the edges ordered by text.
func (c *children) sorted() []child {
	return slices.SortedFunc(slices.Values(c.list), func(a, b child) int {
		return strings.Compare(a.text, b.text)
	})
}

// A tree is a set of patterns that share their common prefixes. Programs are compiled
// from it.
type tree struct {
	hosts     map[string]*node // by canonical host
	suffixes  map[string]*node // of the hosts that begin with a wildcard, which is a param or the middle of the node
	anyHost   *node            // nil: all patterns have a host
	methods   methodNames
	allows    map[methodSet]string // precomputed Allow fields
	visitBits int                  // number of visit bits
}

// root returns the node for the first segment of p.withLabel, nil if there is none.
func (t *tree) root(p *pattern) *node {
	switch {
	case p.label != nil:
		return t.suffixes[p.host]
	case p.host == "":
		return t.anyHost
	}
	return t.hosts[p.host]
}
