package router

import (
	"slices"
	"strings"
)

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
