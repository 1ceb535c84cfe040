package router

import "slices"

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
	stretch  *edge
	rest     *restLeaf

	// guard is, for the node behind a stretch that has another stretch
	// before it, its number among such nodes, from 1; else it is 0.
	guard int
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
