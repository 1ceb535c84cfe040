package sink

import "github.com/weirhq/weir/log"

// A chunk is lines that go out in one write. Neither of its slices ever grows:
// a line that does not fit goes into the next chunk.
//
//	text:  {"severity":3,...}\n{"severity":1,...}\n{"sev...}\n......
//	lines:                    ^ info              ^ error   ^ info
type chunk struct {
	text  []byte
	lines []queuedLine

	settled int    // lines that are accounted for; guarded by the queue's mu
	used    int    // bytes of the backlog that it takes
	next    *chunk // that is written after it
}

type queuedLine struct {
	end   int // in text
	level log.Level
}

// How large chunks are: what a pipe takes at once, and then no larger write is
// cheaper by the byte. With the ends of its lines a chunk is 64 KiB.
const (
	maxChunkText  = 56 << 10
	minChunkText  = 512
	chunkShare    = 8   // of a small backlog, so many
	textPerLine   = 112 // lines shorter than that fill the slice of their ends first
	queuedLineLen = 16
	maxFreeChunks = 16
)

// A backlog is lines in the order in which they came, in chunks:
//
//	head -> chunk -> chunk -> tail     free: chunk, chunk
//
// The one that was written last is filled next: it is still in a cache.
type backlog struct {
	head, tail *chunk
	free       []*chunk
	chunkText  int
	used       int    // bytes that lines take, their ends and the remainders of full chunks included
	added      uint64 // lines that ever came
	removed    uint64 // and went
}

func newBacklog(bytes int) backlog {
	return backlog{chunkText: min(max(bytes/chunkShare, minChunkText), maxChunkText)}
}

// cost returns by how much a line of n bytes would make used grow.
func (b *backlog) cost(n int) int {
	if b.tail == nil || b.tail.fits(n) {
		return n + queuedLineLen
	}
	return n + queuedLineLen + b.tail.rest()
}

// add copies a line. It reports whether a chunk was filled by that.
func (b *backlog) add(level log.Level, line []byte) (filled bool) {
	if b.tail == nil || !b.tail.fits(len(line)) {
		filled = b.tail != nil
		b.extend(len(line))
	}
	c := b.tail
	c.text = append(c.text, line...)
	c.lines = append(c.lines, queuedLine{end: len(c.text), level: level})
	c.used += len(line) + queuedLineLen
	b.used += len(line) + queuedLineLen
	b.added++
	return filled
}

// extend ends the last chunk and begins another that a line of n bytes fits in.
func (b *backlog) extend(n int) {
	c := b.newChunk(n)
	if b.tail == nil {
		b.head, b.tail = c, c
		return
	}
	rest := b.tail.rest()
	b.tail.used += rest
	b.used += rest
	b.tail.next, b.tail = c, c
}

func (b *backlog) newChunk(n int) *chunk {
	if n > b.chunkText {
		b.letGo(n) // or both would be there at once
		return &chunk{text: make([]byte, 0, n), lines: make([]queuedLine, 0, 1)}
	}
	if len(b.free) > 0 {
		return b.popFree()
	}
	return &chunk{
		text:  make([]byte, 0, b.chunkText),
		lines: make([]queuedLine, 0, b.chunkText/textPerLine),
	}
}

func (b *backlog) popFree() *chunk {
	last := len(b.free) - 1
	c := b.free[last]
	b.free[last] = nil
	b.free = b.free[:last]
	return c
}

// letGo lets go of free memory for n bytes.
func (b *backlog) letGo(n int) {
	for n > 0 && len(b.free) > 0 {
		n -= cap(b.popFree().text)
	}
}

// take removes the first chunk, which counts as used until it is released.
func (b *backlog) take() *chunk {
	c := b.head
	if c == nil {
		return nil
	}
	b.head, c.next = c.next, nil
	if b.head == nil {
		b.tail = nil
	}
	return c
}

func (b *backlog) release(c *chunk) {
	b.used -= c.used
	b.removed += uint64(len(c.lines))
	if cap(c.text) == b.chunkText {
		c.text, c.lines, c.settled, c.used = c.text[:0], c.lines[:0], 0, 0
		b.free = append(b.free, c)
	}
}

// isFat reports whether there is more memory than a quiet queue keeps.
func (b *backlog) isFat() bool { return len(b.free) > maxFreeChunks }

// trim lets go of what a flood left.
func (b *backlog) trim() {
	for b.isFat() {
		b.popFree()
	}
}

// fits reports whether there is room for a line of n bytes.
func (c *chunk) fits(n int) bool {
	return len(c.text)+n <= cap(c.text) && len(c.lines) < cap(c.lines)
}

// rest returns how much memory of c is not filled.
func (c *chunk) rest() int {
	return cap(c.text) - len(c.text) + queuedLineLen*(cap(c.lines)-len(c.lines))
}
