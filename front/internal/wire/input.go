package wire

import (
	"sync"

	"github.com/weirhq/weir/internal/http1"
)

const (
	// inputSize is the size of a connection's buffer. Longer heads get a longer one.
	inputSize = 4 << 10
	// leastSpace is the smallest free space of a buffer that is worth a read.
	leastSpace = 512
)

// An input holds the bytes that were received from a client and the parser of its
// requests. The head of the request in progress is at the beginning of buf, and
// buf[r:w] is unread. A connection has an input only while it holds bytes.
type input struct {
	parser http1.RequestParser
	fields http1.Fields
	buf    []byte
	head   int // length of the head of the request in progress
	r, w   int
	array  [inputSize]byte // the first memory of buf
}

var inputs = sync.Pool{New: func() any { return newInput() }}

func newInput() *input {
	in := new(input)
	in.parser.Fields = &in.fields
	return in
}

// takeInput returns an empty input for heads of at most maxHead bytes.
func takeInput(maxHead int) *input {
	in := inputs.Get().(*input)
	in.begin(maxHead)
	return in
}

func (in *input) begin(maxHead int) {
	in.parser.MaxHead = maxHead
	in.buf = in.array[:]
}

// release returns the input to the pool.
func (in *input) release() {
	in.parser.Reset()
	in.buf, in.head, in.r, in.w = nil, 0, 0, 0
	inputs.Put(in)
}

// unread returns the bytes after the parsed ones.
func (in *input) unread() []byte { return in.buf[in.r:in.w] }

// space returns free space after the received bytes. The bytes of the head stay where
// they are, because the strings of the exchange are views of them.
func (in *input) space() []byte {
	if in.r == in.w {
		in.r, in.w = in.head, in.head
	}
	if len(in.buf)-in.w < leastSpace {
		in.w = in.head + copy(in.buf[in.head:], in.unread())
		in.r = in.head
	}
	if len(in.buf)-in.w < leastSpace {
		in.buf = append(make([]byte, 0, 2*len(in.buf)), in.buf...)[:2*len(in.buf)]
	}
	return in.buf[in.w:]
}

// add appends bytes that were read elsewhere.
func (in *input) add(b []byte) {
	for len(b) > 0 {
		n := copy(in.space(), b)
		in.w += n
		b = b[n:]
	}
}

// endHead removes the head of a request, or a header of the PROXY protocol. The unread bytes begin the next one.
func (in *input) endHead() {
	in.w = copy(in.buf, in.unread())
	in.head, in.r = 0, 0
}
