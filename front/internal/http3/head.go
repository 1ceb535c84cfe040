package http3

import (
	"sync"

	"github.com/quic-go/qpack"

	"github.com/weirhq/weir/internal/httphead"
)

// heads are header blocks for responses. Their encoder has no dynamic table.
var heads = sync.Pool{New: func() any {
	h := new(httphead.Block)
	encoder := qpack.NewEncoder(h)
	h.Encode = func(name, value string) {
		if len(h.Bytes) == 0 {
			encoder.Close() // the first field of another block
		}
		encoder.WriteField(qpack.HeaderField{Name: name, Value: value})
	}
	return h
}}

// newHead returns an empty header block.
func newHead() *httphead.Block {
	h := heads.Get().(*httphead.Block)
	h.Bytes = h.Bytes[:0]
	return h
}

func release(h *httphead.Block) {
	if h.MayKeep() {
		heads.Put(h)
	}
}
