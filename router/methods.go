package router

import (
	"slices"
	"strings"
)

// A methodSet is a set of the methods that the patterns of a tree name, one
// bit each. It is what makes the union of all that match a path free.
type methodSet uint64

// maxMethods is how many different methods the patterns of a tree may name.
const maxMethods = 64

// The bits that every tree knows.
const (
	getBit = iota
	headBit
)

func (s methodSet) has(bit int) bool { return s&(1<<bit) != 0 }

// methodNames gives every method of a tree its bit: its index.
type methodNames []string

func newMethodNames() methodNames { return methodNames{getBit: "GET", headBit: "HEAD"} }

// set returns the methods as a set, with HEAD when GET is one of them. ok is
// false when they are too many for the tree.
func (names *methodNames) set(methods []string) (s methodSet, ok bool) {
	for _, method := range methods {
		bit := slices.Index(*names, method)
		if bit < 0 {
			if bit = len(*names); bit == maxMethods {
				return 0, false
			}
			*names = append(*names, method)
		}
		s |= 1 << bit
	}
	if s.has(getBit) {
		s |= 1 << headBit
	}
	return s, true
}

// allow returns a set as the value of an Allow header.
func (names methodNames) allow(s methodSet) string {
	var list []string
	for bit, name := range names {
		if s.has(bit) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
