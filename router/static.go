package router

import "math/bits"

// statics is a hash table of the patterns without parameters, by path, with open
// addressing. It is built once from all paths, so its longest probe sequence is known.
type statics struct {
	longest int // the length of the longest path
	slots   []slot
	paths   []staticPath
	width   int  // of the index in a slot, in bits
	sampled bool // hashSample distributes the paths well enough
}

type staticPath struct {
	path string
	end  ending
}

// A slot is 0, or the index of a path plus 1 in the low bits and the upper bits of the
// path's hash above it.
type slot uint32

// longestProbe is the longest probe sequence with which a hash function is accepted.
const longestProbe = 8

func newStatics(paths []staticPath) statics {
	s := statics{paths: paths, sampled: true, width: bits.Len(uint(len(paths)))}
	if len(paths) == 0 {
		s.longest = -1
		return s
	}
	for i := range paths {
		s.longest = max(s.longest, len(paths[i].path))
	}
	if s.fill(hashSample) > longestProbe {
		s.sampled = false
		s.fill(hashAll)
	}
	return s
}

// fill inserts the paths and returns the longest distance of a path from its slot.
func (s *statics) fill(hash func(string) uint64) (farthest int) {
	size := 4
	for size < 2*len(s.paths) {
		size *= 2
	}
	s.slots = make([]slot, size)
	for i := range s.paths {
		h := hash(s.paths[i].path)
		at, far := int(h)&(size-1), 0
		for s.slots[at] != 0 {
			at, far = (at+1)&(size-1), far+1
		}
		s.slots[at] = s.tag(h) | slot(i+1)
		farthest = max(farthest, far)
	}
	return farthest
}

// tag returns the hash bits of a slot.
func (s *statics) tag(h uint64) slot { return slot(h>>32) >> s.width << s.width }

// find returns the entry for the path and the method, -1 if there is none.
func (s *statics) find(path string, m methodSet) int32 {
	if len(path) > s.longest {
		return -1
	}
	var h uint64
	if s.sampled {
		h = hashSample(path)
	} else {
		h = hashAll(path)
	}
	for at := h; ; at++ {
		found := s.slots[at&uint64(len(s.slots)-1)]
		if found == 0 {
			return -1
		}
		if i := found ^ s.tag(h); i < 1<<s.width {
			if p := &s.paths[i-1]; p.path == path {
				return p.end.find(m)
			}
		}
	}
}

const (
	mix1 = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	mix2 = 0xC2B2AE3D27D4EB4F
)

// hashSample hashes the length and sixteen bytes: the last eight, and eight in the
// middle.
func hashSample(s string) uint64 {
	if len(s) < 8 {
		return mix((shortWord(s) ^ uint64(len(s))) * mix1)
	}
	n := len(s) - 8
	return mix((word(s, n)^uint64(len(s)))*mix1 ^ word(s, n/2)*mix2)
}

// hashAll hashes every byte, in two sums that do not wait for each other.
func hashAll(s string) uint64 {
	if len(s) < 8 {
		return hashSample(s)
	}
	a, b := word(s, len(s)-8)*mix2, uint64(len(s)) // the last word may overlap the previous one
	for ; len(s) > 16; s = s[16:] {
		a = (mix(a) ^ word(s, 0)) * mix1
		b = (mix(b) ^ word(s, 8)) * mix1
	}
	if len(s) > 8 {
		b = (mix(b) ^ word(s, 0)) * mix1
	}
	return mix(mix(a)*mix2 + b)
}

// mix folds the upper bits of a product into the lower ones.
func mix(h uint64) uint64 { return h ^ h>>32 }
