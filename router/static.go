package router

// statics finds whole paths: the patterns without parameters. It is a hash
// table with open addressing. Since all its paths are known when it is made, and no
// request adds any, the longest way through it is known, too.
type statics struct {
	longest int // the length of the longest path
	slots   []slot
	paths   []staticPath
	sampled bool // hashSample is good enough for the paths
}

type staticPath struct {
	path string
	end  *ending
}

// A slot is 0 or the index of a path plus 1 and the upper half of its hash.
type slot struct{ tag, path uint32 }

// longestProbe is how many slots a path may be from where it belongs before a
// hash is found too weak for the paths.
const longestProbe = 8

func newStatics(paths []staticPath) statics {
	s := statics{paths: paths, sampled: true}
	if len(paths) == 0 {
		s.longest = -1
		return s
	}
	for _, p := range paths {
		s.longest = max(s.longest, len(p.path))
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
	for i, p := range s.paths {
		h := hash(p.path)
		at, far := int(h)&(size-1), 0
		for s.slots[at].path != 0 {
			at, far = (at+1)&(size-1), far+1
		}
		s.slots[at] = slot{tag: uint32(h >> 32), path: uint32(i + 1)}
		farthest = max(farthest, far)
	}
	return farthest
}

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
		slot := &s.slots[at&uint64(len(s.slots)-1)]
		if slot.path == 0 {
			return -1
		}
		if slot.tag == uint32(h>>32) {
			if p := &s.paths[slot.path-1]; p.path == path {
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
		return finish((shortWord(s) ^ uint64(len(s))) * mix1)
	}
	n := len(s) - 8
	return finish((word(s, n)^uint64(len(s)))*mix1 ^ word(s, n/2)*mix2)
}

// hashAll looks at every byte.
func hashAll(s string) uint64 {
	h := uint64(len(s))
	for ; len(s) >= 8; s = s[8:] {
		h = finish((h ^ word(s, 0)) * mix1)
	}
	return finish((h ^ shortWord(s)) * mix2)
}

// finish lets the upper bits of a product count in the lower ones.
func finish(h uint64) uint64 { return h ^ h>>32 }
