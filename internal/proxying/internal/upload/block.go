package upload

import "sync"

const (
	// blockLength is the maximum length of a part of a body that is sent with one
	// write.
	blockLength = 64 << 10
	// headRoom is the space before a block for the head of the request and for
	// the size of a chunk. If the head is longer, the block is copied behind it. A
	// block begins with a page of memory, so that a short one uses only one page.
	headRoom = 4 << 10
	// chunkSuffix is the space after a block for the CRLF of a chunk.
	chunkSuffix = 2
)

// A buffer holds one block.
type buffer [headRoom + blockLength + chunkSuffix]byte

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// Space implements transport.Space.
func (u *Upload) Space() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.buffer == nil {
		u.buffer = buffers.Get().(*buffer)
	}
	u.reading = true
	space := u.buffer[headRoom+u.to : headRoom+blockLength]
	if left := u.length - u.bytes; left >= 0 && left < int64(len(space)) {
		return space[:left]
	}
	return space
}

// GiveBack implements transport.Space.
func (u *Upload) GiveBack() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = false
	if u.from == u.to {
		u.drop()
	}
}

// discard removes the bytes from the block and returns its buffer to the pool.
func (u *Upload) discard() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = false
	u.drop()
}

// drop removes the bytes from the block, and returns its buffer to the pool
// unless it is in use. The caller holds mu.
func (u *Upload) drop() {
	if u.reading {
		u.from = u.to
		return
	}
	if u.buffer != nil {
		buffers.Put(u.buffer)
	}
	u.buffer, u.from, u.to = nil, 0, 0
}
