package router

import (
	"math/bits"
	"slices"
	"strings"
)

// A methodSet is a set of methods of a tree, one bit each. It makes the union of all
// methods that match a path free.
type methodSet uint64

// maxMethods is the number of different methods that the patterns of a tree may name,
// including the known ones.
const maxMethods = 64

// The bits of the known methods, in the order of knownMethods.
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

// methodNames are the methods of a tree; the index is the bit.
type methodNames []string

func newMethodNames() methodNames { return slices.Clone(knownMethods) }

// only returns the set of one method, or an empty set for an unknown method. The
// compiler turns the switch into a few integer comparisons.
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

// other is only for methods that are not in knownMethods.
func (names methodNames) other(method string) methodSet {
	if i := slices.Index(names[len(knownMethods):], method); i >= 0 {
		return 1 << (len(knownMethods) + i)
	}
	return 0
}

// set returns the set of the methods, with HEAD if GET is among them. ok is false if
// the tree would have too many methods.
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

// allow returns a set as the value of an Allow field.
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

// An ending contains the patterns that end at one place and differ only in their
// methods, each as the index of its entry.
type ending struct {
	methods   methodSet
	anyMethod int32   // -1: none
	only      int32   // the entry if all methods have the same one; otherwise -1
	byMethod  []int32 // an entry for each method, in the order of the bits
}

// find returns the entry for the method in m, -1 if there is none.
func (e *ending) find(m methodSet) int32 {
	switch {
	case e.methods&m == 0:
		return e.anyMethod
	case e.only >= 0:
		return e.only
	}
	return e.byMethod[e.rank(m)]
}

// without returns the methods of e that have an entry which is not in passed.
func (e *ending) without(passed []int32) (s methodSet) {
	for left := e.methods; left != 0; left &= left - 1 {
		if m := left & -left; !slices.Contains(passed, e.find(m)) {
			s |= m
		}
	}
	return s
}

// rank returns the index of the method in m among the methods of e.
func (e *ending) rank(m methodSet) int { return (e.methods & (m - 1)).count() }
