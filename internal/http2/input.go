package http2

import (
	"sync"

	"github.com/weirhq/weir/internal/httphead"
)

// inputSize is the size of an input. It holds the longest frame.
const inputSize = 32 << 10

type inputPage [inputSize]byte

var inputPages = sync.Pool{New: func() any { return new(inputPage) }}

// An input holds the bytes that were received and not handled. A connection has memory for
// them only while there are any.
type input struct {
	page *inputPage
	n    int

	prefaced bool      // the preface was read
	data     dataFrame // in progress
}

// A dataFrame is a DATA frame whose payload is arriving.
type dataFrame struct {
	id      uint32
	left    int // bytes of data
	padding int // bytes that follow the data
	end     bool
}

// A headerBlock is a header block that is being received.
type headerBlock struct {
	stream  uint32 // 0 if none is being received
	use     blockUse
	failure *Error         // of the stream
	fault   httphead.Fault // of the head
	into    *Stream        // whose fields are collected; a new one, also for trailers
	end     bool           // END_STREAM
	limit   int            // of size
	size    int            // of the list
	bytes   int            // received
	frames  int
}

// A blockUse is the purpose of a header block.
type blockUse uint8

const (
	ignored  blockUse = iota // it is only decoded, for the state of the decoder
	head                     // opens a stream
	trailers                 // ends a stream
	failure                  // resets the stream
)

// take returns space for received bytes, at least n.
func (in *input) take(n int) []byte {
	if in.page == nil {
		in.page = inputPages.Get().(*inputPage)
	}
	return in.page[in.n:]
}

func (in *input) release() {
	if in.page != nil {
		inputPages.Put(in.page)
		in.page, in.n = nil, 0
	}
}
