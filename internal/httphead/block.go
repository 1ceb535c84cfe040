package httphead

import (
	"strconv"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Block is a header block that is being encoded. The encoder, of HTTP/2 or HTTP/3, writes to it.
type Block struct {
	Encode  func(name, value string) // by the encoder
	Bytes   []byte
	scratch []byte // a name in lower case, or a status
}

// Write appends encoded bytes. It is for the encoder.
func (b *Block) Write(p []byte) (int, error) {
	b.Bytes = append(b.Bytes, p...)
	return len(p), nil
}

// Status adds the pseudo-header field of a response. It must be the first field.
func (b *Block) Status(status int) {
	b.scratch = strconv.AppendInt(b.scratch[:0], int64(status), 10)
	b.Encode(":status", httpsyntax.View(b.scratch))
}

// Add adds a field. The name may be in any case.
func (b *Block) Add(name, value string) {
	if httpsyntax.HasUpper(name) {
		b.scratch = b.scratch[:0]
		for i := range len(name) {
			b.scratch = append(b.scratch, httpsyntax.Lower(name[i]))
		}
		name = httpsyntax.View(b.scratch)
	}
	b.Encode(name, value)
}

// keptBlock is the capacity above which the memory of a header block is not kept.
const keptBlock = 16 << 10

// MayKeep reports whether the memory of the block is short enough to be kept.
func (b *Block) MayKeep() bool { return cap(b.Bytes) <= keptBlock }
