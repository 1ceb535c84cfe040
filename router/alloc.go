package router

import "net/http"

// A slab allocates values of one type in batches. A table of ten thousand patterns
// consists of a hundred thousand values, and single allocations would take most of the
// time. The zero slab is ready. A batch is freed when none of its values is reachable.
type slab[T any] struct {
	free []T
	size int // of the last batch
}

// maxSlab is the size of the largest batch.
const maxSlab = 256

// new returns a zero value.
func (s *slab[T]) new() *T { return &s.slice(1)[0] }

// slice returns n zero values with no capacity beyond them.
func (s *slab[T]) slice(n int) []T {
	if n > len(s.free) {
		s.size = min(max(4, 2*s.size), maxSlab)
		s.free = make([]T, max(n, s.size))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

// A valueChunk allocates the path values of many requests in batches. Memory is never
// reused, so the values of a request stay valid after its handler has returned. The
// zero valueChunk is ready; one goroutine at a time.
//
// A request keeps its whole chunk reachable, with the values of other requests, which
// are parts of their request lines. Requests with long lines do not use chunks, so this
// is at most 16 KiB.
type valueChunk struct {
	strings *[chunkLen]string
	used    int
}

const (
	// chunkLen strings are 512 bytes, the largest allocation without a header. Lengths
	// from 16 to 256 showed no difference in speed.
	chunkLen = 32
	// maxFromChunk is the most strings that a request gets from a chunk, so at most a
	// quarter of a chunk stays unused.
	maxFromChunk = chunkLen / 4
	// maxLine is the most bytes, by keptBy, that a request in a chunk may keep
	// reachable.
	maxLine = 512
)

// take returns n empty strings for req.
func (c *valueChunk) take(n int, req *http.Request) []string {
	if n == 0 {
		return nil
	}
	if n > maxFromChunk || keptBy(req) > maxLine {
		return make([]string, n)
	}
	if c.strings == nil || n > chunkLen-c.used {
		c.strings, c.used = new([chunkLen]string), 0
	}
	from := c.used
	c.used += n
	return c.strings[from:c.used:c.used] // an append copies it
}

// keptBy returns a lower bound for the bytes that a part of req's path keeps reachable.
// net/http reads Method and RequestURI as one string; a request from elsewhere may have
// only a URL.
func keptBy(req *http.Request) int {
	return len(req.Method) + len(req.RequestURI) + len(req.URL.Path) + len(req.URL.RawQuery)
}
