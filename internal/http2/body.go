package http2

import "sync"

// chunkSize is the capacity of a chunk. A stream with little unread data holds one.
const chunkSize = 4 << 10

// A chunk is a part of the data that a stream has received.
type chunk struct {
	next  *chunk
	r, w  int
	bytes [chunkSize]byte
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// A body holds the data that was received and not read yet. The window of the stream
// limits its length.
type body struct {
	first, last *chunk
	n           int
}

func (b *body) write(p []byte) {
	b.n += len(p)
	for len(p) > 0 {
		if b.last == nil || b.last.w == chunkSize {
			c := chunks.Get().(*chunk)
			c.next, c.r, c.w = nil, 0, 0
			if b.last == nil {
				b.first = c
			} else {
				b.last.next = c
			}
			b.last = c
		}
		n := copy(b.last.bytes[b.last.w:], p)
		b.last.w += n
		p = p[n:]
	}
}

func (b *body) read(p []byte) (n int) {
	for n < len(p) && b.n > 0 {
		m := copy(p[n:], b.first.bytes[b.first.r:b.first.w])
		b.first.r += m
		b.n -= m
		n += m
		if b.first.r == b.first.w {
			b.drop()
		}
	}
	return n
}

// drop removes the first chunk.
func (b *body) drop() {
	c := b.first
	if b.first = c.next; b.first == nil {
		b.last = nil
	}
	c.next = nil
	chunks.Put(c)
}

// discard removes all data.
func (b *body) discard() {
	for b.first != nil {
		b.drop()
	}
	b.n = 0
}
