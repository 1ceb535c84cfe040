package transport

import "sync"

const (
	// blockSize is the size of the memory for records that were received, or are to be
	// sent, in one system call.
	blockSize = 48 << 10
	// maxBatch is how many bytes are encrypted and sent together. Their three records have
	// up to 29 bytes more than their content each (RFC 5246, section 6.2.3.3).
	maxBatch = blockSize - 256
)

// A block is memory for records. A connection has one only while it holds bytes.
type block [blockSize]byte

var blocks = sync.Pool{New: func() any { return new(block) }}

func takeBlock() *block { return blocks.Get().(*block) }

func (b *block) release() { blocks.Put(b) }
