package http2

import (
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Head is a header block that is being encoded. Get one with [NewHead], and pass it to
// [Stream.SendHead], which releases it.
type Head struct {
	encoder *hpack.Encoder
	block   []byte
	scratch []byte // a name in lower case, or a status
}

var heads = sync.Pool{New: func() any {
	h := new(Head)
	h.encoder = hpack.NewEncoder(h)
	// The dynamic table is not used. Each connection announces that itself, so the update of
	// the table's size that the encoder writes first is discarded.
	h.encoder.SetMaxDynamicTableSizeLimit(0)
	h.encoder.WriteField(hpack.HeaderField{})
	return h
}}

// NewHead returns an empty header block.
func NewHead() *Head {
	h := heads.Get().(*Head)
	h.block = h.block[:0]
	return h
}

// keptBlock is the capacity above which the memory of a header block is not kept.
const keptBlock = 16 << 10

func (h *Head) release() {
	if cap(h.block) <= keptBlock {
		heads.Put(h)
	}
}

// Write appends encoded bytes. It is for the encoder.
func (h *Head) Write(p []byte) (int, error) {
	h.block = append(h.block, p...)
	return len(p), nil
}

// Status adds the pseudo-header field of a response. It must be the first field.
func (h *Head) Status(status int) {
	h.scratch = strconv.AppendInt(h.scratch[:0], int64(status), 10)
	h.encoder.WriteField(hpack.HeaderField{Name: ":status", Value: view(h.scratch)})
}

// Add adds a field. The name may be in any case.
func (h *Head) Add(name, value string) {
	if httpsyntax.HasUpper(name) {
		h.scratch = h.scratch[:0]
		for i := range len(name) {
			h.scratch = append(h.scratch, httpsyntax.Lower(name[i]))
		}
		name = view(h.scratch)
	}
	h.encoder.WriteField(hpack.HeaderField{Name: name, Value: value})
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
