// Package response reads the response to a request: its heads, its body and its
// trailers. It knows neither requests nor connections.
package response

import (
	"io"
	"sync"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/http2"
)

const (
	// BufferSize is the size of the buffer for a response.
	BufferSize = 32 << 10
	// LeastRoom is the minimum size of a read of the body, however little the
	// client takes.
	LeastRoom = 4 << 10
)

// A Reader reads the response that arrives on an upstream connection. buf[from:to]
// holds the received bytes that were not passed on yet. The buffer is a block
// of a pool. A Reader has one only while it holds unread bytes, and the caller
// has it return the buffer before a wait for the upstream or the client. Heads
// and trailers are therefore copied to kept, and the strings of their fields are
// views into that. The zero value is ready to use. It is a [transport.Space].
type Reader struct {
	// Of the last head:
	Status   int
	Streamed bool // over HTTP/2
	Fields   []Field
	Framing  http1.Framing
	Left     int64   // bytes left of a body with a length
	Close    bool    // the upstream will close the connection, or its state is uncertain
	Trailer  []Field // after the end of the body

	AtMost int // maximum size of one read; 0 means all free space

	block    *[BufferSize]byte // the array of buf; nil for a longer buffer
	buf      []byte
	from, to int
	kept     []byte // heads and trailers read so far

	parser http1.ResponseParser
	chunks http1.ChunkReader
	spans  http1.Fields // those of the parser, and then of chunks
}

var blocks = sync.Pool{New: func() any { return new([BufferSize]byte) }}

// keptCeiling is the capacity above which kept is not used for another response.
const keptCeiling = 64 << 10

// Reset makes the reader ready for another response. It invalidates the strings of the fields.
func (r *Reader) Reset() {
	r.from, r.AtMost = r.to, 0
	r.GiveBack()
	if r.kept = r.kept[:0]; cap(r.kept) > keptCeiling {
		r.kept = nil
	}
	r.Restart()
}

// GiveBack returns the buffer to the pool, unless it contains unread bytes.
func (r *Reader) GiveBack() {
	if r.from < r.to {
		return
	}
	if r.block != nil {
		blocks.Put(r.block)
	}
	r.block, r.buf, r.from, r.to = nil, nil, 0, 0
}

// Heard reports whether any bytes of the response have arrived.
func (r *Reader) Heard() bool { return r.to > 0 || len(r.kept) > 0 }

// Restart clears the head, for the next one on the same connection.
func (r *Reader) Restart() {
	r.parser.Reset()
	r.Fields, r.Trailer = keepEmpty(r.Fields), keepEmpty(r.Trailer)
	r.Streamed = false
	r.Status, r.Framing, r.Left, r.Close = 0, http1.BodyNone, 0, false
}

// Surplus reports whether unread bytes are left, which belong to no response.
func (r *Reader) Surplus() bool { return r.from < r.to }

// Space returns the free space for the next read. If there is none after w, it
// moves the unread bytes to the front or to a longer buffer.
func (r *Reader) Space() []byte {
	switch {
	case r.buf == nil:
		r.block = blocks.Get().(*[BufferSize]byte)
		r.buf = r.block[:]
	case r.from == r.to:
		r.from, r.to = 0, 0
	case r.to < len(r.buf):
	case r.from > 0:
		r.from, r.to = 0, copy(r.buf, r.buf[r.from:r.to])
	default:
		r.lengthen()
	}
	space := r.buf[r.to:]
	if r.AtMost > 0 && r.AtMost < len(space) {
		return space[:r.AtMost]
	}
	return space
}

// Add appends the n bytes that were read into the space to the unread bytes.
func (r *Reader) Add(n int) { r.to += n }

// TakeAll returns the unread bytes as a view into the buffer, valid until the next call of another
// method.
func (r *Reader) TakeAll() []byte {
	p := r.buf[r.from:r.to]
	r.from = r.to
	return p
}

// lengthen moves the unread bytes of a full buffer to a buffer of twice its
// length.
func (r *Reader) lengthen() {
	long := make([]byte, 2*len(r.buf))
	n := copy(long, r.buf)
	r.from = r.to
	r.GiveBack()
	r.buf, r.to = long, n
}

// ReadHead reads the next head and determines the framing of the body.
// maxFields limits the fields of the head and those of the trailers. method is
// the method of the request.
func (r *Reader) ReadHead(read ReadFunc, method string, maxFields int) error {
	r.Restart()
	r.parser.Fields, r.parser.MaxFields = &r.spans, maxFields
	for {
		unread := r.buf[r.from:r.to]
		n, err := r.parser.Parse(unread, method == "HEAD")
		if err != nil {
			return malformedHead(err, unread)
		}
		if n > 0 {
			r.from += n
			r.Fields = r.keepFields(r.Fields, unread[:n])
			break
		}
		if err := r.fill(read); err != nil {
			return err
		}
	}
	h := &r.parser.Head
	r.Status, r.Framing, r.Left, r.Close = h.Status, h.Framing, h.Length, h.Close || h.HTTP10
	if r.Framing == http1.BodyChunked {
		r.chunks.Trailers, r.chunks.MaxFields = &r.spans, maxFields
		r.chunks.Reset()
	}
	return nil
}

// SetHead sets a head that has arrived over HTTP/2. Like those of ReadHead, its fields are copied.
func (r *Reader) SetHead(h *http2.Response, method string, maxFields int) error {
	r.Restart()
	if len(h.Fields) > maxFields {
		return Malformed("more than %d fields", maxFields)
	}
	r.Status, r.Streamed = h.Status, true
	r.Fields = r.keepStreamFields(r.Fields, h.Fields)
	if !h.Ends && r.MayHaveBody(method) {
		r.Framing = http1.BodyUntilClose
	}
	return nil
}

// SetTrailer sets the trailers of a body over HTTP/2.
func (r *Reader) SetTrailer(fields []http2.Field, maxFields int) error {
	if len(fields) > maxFields {
		return Malformed("more than %d trailers", maxFields)
	}
	r.Trailer = r.keepStreamFields(r.Trailer, fields)
	return nil
}

// MayHaveBody reports whether the response may have a body, by its status and the method of the
// request.
func (r *Reader) MayHaveBody(method string) bool {
	return r.Status != 204 && r.Status != 304 && method != "HEAD"
}

// A ReadFunc reads more of a response into its space. It may take another action
// before a read that would block.
type ReadFunc func(r *Reader) (int, error)

// more ensures that there is an unread byte. It returns io.ErrUnexpectedEOF at
// the end of the stream, because the caller knows that more must follow.
func (r *Reader) more(read ReadFunc) error {
	if r.from < r.to {
		return nil
	}
	return r.fill(read)
}

// fill reads once and appends to the unread bytes.
func (r *Reader) fill(read ReadFunc) error {
	n, err := read(r)
	r.to += n
	switch {
	case n > 0:
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err == io.ErrUnexpectedEOF: // of a connection with TLS
		return errTruncatedTLS
	}
	return err
}
