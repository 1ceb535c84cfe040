package router

import (
	"math/bits"
	"slices"
	"strings"
)

// A methodSet is a set of the methods that the patterns of a tree name, one
// bit each. It is what makes the union of all that match a path free.
type methodSet uint64

// maxMethods is how many different methods the patterns of a tree may name,
// the known ones included.
const maxMethods = 64

// The bits of the methods that every tree knows, in the order of knownMethods.
const (
	connectBit = iota
	deleteBit
	getBit
	headBit
	optionsBit
	patchBit
	postBit
	putBit
	traceBit
)

var knownMethods = []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}

func (s methodSet) count() int { return bits.OnesCount64(uint64(s)) }

func (s methodSet) has(bit int) bool { return s&(1<<bit) != 0 }

// methodNames gives every method of a tree its bit: its index.
type methodNames []string

func newMethodNames() methodNames { return slices.Clone(knownMethods) }

// only returns the method as a set of one, empty for a name that is not known.
// The compiler makes a few comparisons of numbers of the switch.
func (names methodNames) only(method string) methodSet {
	switch method {
	case "GET":
		return 1 << getBit
	case "HEAD":
		return 1 << headBit
	case "POST":
		return 1 << postBit
	case "PUT":
		return 1 << putBit
	case "PATCH":
		return 1 << patchBit
	case "DELETE":
		return 1 << deleteBit
	case "OPTIONS":
		return 1 << optionsBit
	case "CONNECT":
		return 1 << connectBit
	case "TRACE":
		return 1 << traceBit
	}
	return names.other(method)
}

// other is only for a method that is not one of knownMethods.
func (names methodNames) other(method string) methodSet {
	if i := slices.Index(names[len(knownMethods):], method); i >= 0 {
		return 1 << (len(knownMethods) + i)
	}
	return 0
}

// set returns the methods as a set, with HEAD when GET is one of them. ok is
// false when they are too many for the tree.
func (names *methodNames) set(methods []string) (s methodSet, ok bool) {
	for _, method := range methods {
		m := names.only(method)
		if m == 0 {
			if len(*names) == maxMethods {
				return 0, false
			}
			m = 1 << len(*names)
			*names = append(*names, method)
		}
		s |= m
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

// An ending is the patterns that end at one place, which differ in their
// methods alone, each by the index of its entry.
type ending struct {
	methods   methodSet
	anyMethod int32   // -1: none
	only      int32   // of all methods, if they have the same; else -1
	byMethod  []int32 // one for each of methods, in the order of their bits
}

// find returns the entry for the only method in m, -1 for none.
func (e *ending) find(m methodSet) int32 {
	switch {
	case e.methods&m == 0:
		return e.anyMethod
	case e.only >= 0:
		return e.only
	}
	return e.byMethod[e.rank(m)]
}

// rank returns the place of the only method in m among those of e.
func (e *ending) rank(m methodSet) int { return (e.methods & (m - 1)).count() }
