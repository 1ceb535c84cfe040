package router

import "net/http"

// A slab makes values of one type, several in one allocation: a table of ten
// thousand patterns is made of a hundred thousand of them, and making each
// alone would take most of the time. The zero slab is ready. Its values live as
// long as one of those they were made with.
type slab[T any] struct {
	free []T
	size int // of the last allocation
}

// maxSlab is how many values are made at once at most.
const maxSlab = 256

// new returns a zero value.
func (s *slab[T]) new() *T { return &s.slice(1)[0] }

// slice returns n zero values, to which nothing can be appended in place.
func (s *slab[T]) slice(n int) []T {
	if n > len(s.free) {
		s.size = min(max(4, 2*s.size), maxSlab)
		s.free = make([]T, max(n, s.size))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

// A valueChunk hands out memory for the values of many requests from one
// allocation. No part of it is handed out twice: who reads the values of a
// request when its handler has long returned finds them as they were. The zero
// valueChunk is ready; one goroutine at a time.
//
// Whoever keeps a request keeps its chunk, and with it the values of others,
// which are parts of the lines that their requests began with. Long lines stay
// out of chunks, so that this is 16 KiB at most.
type valueChunk struct {
	strings *[chunkLen]string
	used    int
}

const (
	// chunkLen strings are 512 bytes, the most that an allocation holds
	// without a header. Between 16 and 256 of them no difference was to be
	// seen.
	chunkLen = 32
	// maxFromChunk leaves no more than a quarter of a chunk unused.
	maxFromChunk = chunkLen / 4
	// maxLine is how much, by keptBy, a request may keep alive in a chunk.
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
	return c.strings[from:c.used:c.used] // whoever appends to it copies it
}

// keptBy returns at least how many bytes a part of req's path keeps alive.
// Method and RequestURI are what net/http has read as one string; a request
// that it did not read may have its URL alone.
func keptBy(req *http.Request) int {
	return len(req.Method) + len(req.RequestURI) + len(req.URL.Path) + len(req.URL.RawQuery)
}
