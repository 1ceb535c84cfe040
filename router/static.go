package router

import "math/bits"

// statics finds whole paths: the patterns without parameters. It is a hash
// table with open addressing. Since all its paths are known when it is made,
// and no request adds any, the longest way through it is known, too.
type statics struct {
	longest int // the length of the longest path
	slots   []slot
	paths   []staticPath
	width   int  // of a slot's index, in bits
	sampled bool // hashSample is good enough for the paths
}

type staticPath struct {
	path string
	end  ending
}

// A slot is 0 or holds the index of a path plus 1, and above it the upper bits
// of the path's hash.
type slot uint32

// longestProbe is how many slots a path may be from where it belongs before a
// hash is found too weak for the paths.
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

// fill puts the paths in their slots and returns how far off the farthest is.
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

// tag returns the part of a slot that is the hash's.
func (s *statics) tag(h uint64) slot { return slot(h>>32) >> s.width << s.width }

// find returns the entry for the path and the method, -1 for none.
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

// hashSample looks at the length and at sixteen bytes: the last eight, and
// eight in the middle.
func hashSample(s string) uint64 {
	if len(s) < 8 {
		return mix((shortWord(s) ^ uint64(len(s))) * mix1)
	}
	n := len(s) - 8
	return mix((word(s, n)^uint64(len(s)))*mix1 ^ word(s, n/2)*mix2)
}

// hashAll looks at every byte, in two sums that do not wait for each other.
func hashAll(s string) uint64 {
	if len(s) < 8 {
		return hashSample(s)
	}
	a, b := word(s, len(s)-8)*mix2, uint64(len(s)) // the last word may lap over the one before
	for ; len(s) > 16; s = s[16:] {
		a = (mix(a) ^ word(s, 0)) * mix1
		b = (mix(b) ^ word(s, 8)) * mix1
	}
	if len(s) > 8 {
		b = (mix(b) ^ word(s, 0)) * mix1
	}
	return mix(mix(a)*mix2 + b)
}

// finish lets the upper bits of a product count in the lower ones.
func mix(h uint64) uint64 { return h ^ h>>32 }
