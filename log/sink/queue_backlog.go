package sink

import "github.com/weirhq/weir/log"

// A chunk holds lines that are written together. Neither of its slices grows: a
// line that does not fit goes into the next chunk.
//
//	text:  {"severity":3,...}\n{"severity":1,...}\n{"sev...}\n......
//	lines:                    ^ info              ^ error   ^ info
type chunk struct {
	text  []byte
	lines []queuedLine

	settled int    // lines that are counted as written or dropped; guarded by the queue's mu
	used    int    // bytes of the backlog that the chunk takes
	next    *chunk // the chunk to write after this one
}

type queuedLine struct {
	end   int // offset of the end of the line in text
	level log.Level
}

// The sizes of chunks. A pipe takes 64 KiB at once, and larger writes are no
// cheaper per byte. With the ends of its lines, a chunk is 64 KiB.
const (
	maxChunkText  = 56 << 10 // without QueueOptions.Batch
	minChunkText  = 512
	chunkShare    = 8   // chunks per backlog, if the backlog is small
	textPerLine   = 112 // with shorter lines, the slice of ends fills first
	queuedLineLen = 16
	maxFreeText   = 16 * maxChunkText // of an idle queue
)

// A backlog holds lines in the order of their arrival, in chunks:
//
//	head -> chunk -> chunk -> tail     free: chunk, chunk
//
// The free chunk that was written last is used next, because it is still in a
// cache.
type backlog struct {
	head, tail *chunk
	free       []*chunk
	chunkText  int
	used       int    // bytes of lines, of their ends, and of the unused ends of full chunks
	added      uint64 // lines that were ever added
	removed    uint64 // lines that were ever removed
}

func newBacklog(o QueueOptions) backlog { return backlog{chunkText: chunkTextOf(o)} }

// chunkTextOf returns the size of the text of a chunk.
func chunkTextOf(o QueueOptions) int {
	longest := o.Batch
	if longest <= 0 {
		longest = maxChunkText
	}
	return min(max(o.Bytes/chunkShare, minChunkText), longest)
}

// resize sets the size of new chunks.
func (b *backlog) resize(o QueueOptions) {
	if size := chunkTextOf(o); size != b.chunkText {
		b.chunkText, b.free = size, nil
	}
}

// cost returns by how much a line of n bytes increases used.
func (b *backlog) cost(n int) int {
	if b.tail == nil || b.tail.fits(n) {
		return n + queuedLineLen
	}
	return n + queuedLineLen + b.tail.unused()
}

// add copies a line.
func (b *backlog) add(level log.Level, line []byte) {
	if b.tail == nil || !b.tail.fits(len(line)) {
		b.extend(len(line))
	}
	c := b.tail
	c.text = append(c.text, line...)
	c.lines = append(c.lines, queuedLine{end: len(c.text), level: level})
	c.used += len(line) + queuedLineLen
	b.used += len(line) + queuedLineLen
	b.added++
}

// extend ends the last chunk and appends one that a line of n bytes fits into.
func (b *backlog) extend(n int) {
	c := b.newChunk(n)
	if b.tail == nil {
		b.head, b.tail = c, c
		return
	}
	rest := b.tail.unused()
	b.tail.used += rest
	b.used += rest
	b.tail.next, b.tail = c, c
}

func (b *backlog) newChunk(n int) *chunk {
	if n > b.chunkText {
		b.letGo(n) // so that both are not in memory at once
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

// letGo frees unused chunks of n bytes together.
func (b *backlog) letGo(n int) {
	for n > 0 && len(b.free) > 0 {
		n -= cap(b.popFree().text)
	}
}

// take removes the first chunk. It counts as used until release.
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

// isFat reports whether there are more free chunks than an idle queue keeps.
func (b *backlog) isFat() bool { return len(b.free)*b.chunkText > maxFreeText && len(b.free) > 1 }

// trim frees the chunks that an idle queue does not keep.
func (b *backlog) trim() {
	for b.isFat() {
		b.popFree()
	}
}

// fits reports whether a line of n bytes fits into c.
func (c *chunk) fits(n int) bool {
	return len(c.text)+n <= cap(c.text) && len(c.lines) < cap(c.lines)
}

// unused returns the unused memory of c in bytes.
func (c *chunk) unused() int {
	return cap(c.text) - len(c.text) + queuedLineLen*(cap(c.lines)-len(c.lines))
}
