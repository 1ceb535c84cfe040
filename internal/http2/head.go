package http2

import (
	"sync"

	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/httphead"
)

// A Head is a header block that is being encoded. Get one with [NewHead], and pass it to
// [Stream.SendHead], which releases it.
type Head = httphead.Block

var heads = sync.Pool{New: func() any {
	h := new(Head)
	encoder := hpack.NewEncoder(h)
	// The dynamic table is not used. Each connection announces that itself, so the update of
	// the table's size that the encoder writes first is discarded.
	encoder.SetMaxDynamicTableSizeLimit(0)
	encoder.WriteField(hpack.HeaderField{})
	h.Encode = func(name, value string) { encoder.WriteField(hpack.HeaderField{Name: name, Value: value}) }
	return h
}}

// NewHead returns an empty header block.
func NewHead() *Head {
	h := heads.Get().(*Head)
	h.Bytes = h.Bytes[:0]
	return h
}

func release(h *Head) {
	if h.MayKeep() {
		heads.Put(h)
	}
}
