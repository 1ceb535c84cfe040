package proxy

import (
	"io"
	"sync"

	"github.com/weirhq/weir/internal/http1"
)

const (
	// answerBuffer is the size of the buffer for a response.
	answerBuffer = 32 << 10
	// leastRoom is the minimum size of a read of the body, however little the
	// client takes.
	leastRoom = 4 << 10
)

// An answer is the response that arrives on an upstream connection. buf[r:w]
// holds the received bytes that were not passed on yet. The buffer is a block
// of a pool. An answer has one only while it holds unread bytes, and returns it
// before it waits for the upstream or the client. Heads and trailers are
// therefore copied to kept, and the strings of their fields are views into
// that.
type answer struct {
	block  *[answerBuffer]byte // the array of buf; nil for a longer buffer
	buf    []byte
	r, w   int
	atMost int    // maximum size of one read; 0 means all free space
	kept   []byte // heads and trailers read so far

	parser http1.ResponseParser
	chunks http1.ChunkReader
	spans  http1.Fields // those of the parser, and then of chunks

	status   int
	streamed bool // over HTTP/2
	fields   []Field
	framing  http1.Framing
	left     int64 // bytes left of a body with a length
	close    bool  // the upstream will close the connection, or its state is uncertain
	trailer  []Field
}

var blocks = sync.Pool{New: func() any { return new([answerBuffer]byte) }}

func (a *answer) reset() {
	a.r, a.atMost = a.w, 0
	a.GiveBack()
	a.kept = keepBytes(a.kept)
	a.restart()
}

// GiveBack returns the buffer to the pool, unless it contains unread bytes.
func (a *answer) GiveBack() {
	if a.r < a.w {
		return
	}
	if a.block != nil {
		blocks.Put(a.block)
	}
	a.block, a.buf, a.r, a.w = nil, nil, 0, 0
}

// heard reports whether any bytes of the response have arrived.
func (a *answer) heard() bool { return a.w > 0 || len(a.kept) > 0 }

// restart clears the head, for the next one on the same connection.
func (a *answer) restart() {
	a.parser.Reset()
	a.fields, a.trailer = keep(a.fields), keep(a.trailer)
	a.streamed = false
	a.status, a.framing, a.left, a.close = 0, http1.BodyNone, 0, false
}

// surplus reports whether unread bytes are left, which belong to no response.
func (a *answer) surplus() bool { return a.r < a.w }

// Space returns the free space for the next read. If there is none after w, it
// moves the unread bytes to the front or to a longer buffer.
func (a *answer) Space() []byte {
	switch {
	case a.buf == nil:
		a.block = blocks.Get().(*[answerBuffer]byte)
		a.buf = a.block[:]
	case a.r == a.w:
		a.r, a.w = 0, 0
	case a.w < len(a.buf):
	case a.r > 0:
		a.r, a.w = 0, copy(a.buf, a.buf[a.r:a.w])
	default:
		a.lengthen()
	}
	space := a.buf[a.w:]
	if a.atMost > 0 && a.atMost < len(space) {
		return space[:a.atMost]
	}
	return space
}

// lengthen moves the unread bytes of a full buffer to a buffer of twice its
// length.
func (a *answer) lengthen() {
	long := make([]byte, 2*len(a.buf))
	n := copy(long, a.buf)
	a.r = a.w
	a.GiveBack()
	a.buf, a.w = long, n
}

// readHead reads the next head and determines the framing of the body.
// maxFields limits the fields of the head and those of the trailers. method is
// the method of the request.
func (a *answer) readHead(read waiter, method string, maxFields int) error {
	a.restart()
	a.parser.Fields, a.parser.MaxFields = &a.spans, maxFields
	for {
		unread := a.buf[a.r:a.w]
		n, err := a.parser.Parse(unread, method == "HEAD")
		if err != nil {
			return malformedHead(err, unread)
		}
		if n > 0 {
			a.r += n
			a.fields = a.keepFields(a.fields, unread[:n])
			break
		}
		if err := a.fill(read); err != nil {
			return err
		}
	}
	h := &a.parser.Head
	a.status, a.framing, a.left, a.close = h.Status, h.Framing, h.Length, h.Close || h.HTTP10
	if a.framing == http1.BodyChunked {
		a.chunks.Trailers, a.chunks.MaxFields = &a.spans, maxFields
		a.chunks.Reset()
	}
	return nil
}

// keepFields copies the section of b to memory that is valid until the next
// reset, and appends its fields, which are views into that.
func (a *answer) keepFields(dst []Field, b []byte) []Field {
	start := len(a.kept)
	a.kept = append(a.kept, b...)
	kept := a.kept[start:]
	for i := range a.spans.Len() {
		f := a.spans.At(i)
		dst = append(dst, Field{Name: fieldName(f.Name.Of(kept)), Value: view(f.Value.Of(kept))})
	}
	return dst
}

// A waiter reads more of a response into its space. It may take another action
// before a read that would block.
type waiter func(a *answer) (int, error)

// next returns the next part of the body as a view into the buffer, valid until
// the following call, or io.EOF after the last one. It calls read if it needs
// more bytes.
func (a *answer) next(read waiter) ([]byte, error) {
	switch a.framing {
	case http1.BodyLength:
		return a.nextOfLength(read)
	case http1.BodyChunked:
		return a.nextOfChunks(read)
	case http1.BodyUntilClose:
		return a.nextUntilClose(read)
	}
	return nil, io.EOF
}

func (a *answer) nextOfLength(read waiter) ([]byte, error) {
	if a.left == 0 {
		return nil, io.EOF
	}
	if err := a.more(read); err != nil {
		return nil, err
	}
	return a.take(), nil
}

func (a *answer) nextUntilClose(read waiter) ([]byte, error) {
	a.left = answerBuffer
	err := a.more(read)
	if err == io.ErrUnexpectedEOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	return a.take(), nil
}

// nextOfChunks decodes a body in chunks, RFC 9112 section 7.1.
func (a *answer) nextOfChunks(read waiter) ([]byte, error) {
	for {
		unread := a.buf[a.r:a.w]
		data, n, done, err := a.chunks.Next(unread)
		if err != nil {
			return nil, malformedChunks(err)
		}
		a.r += n
		switch {
		case done && n > 0:
			a.trailer = a.keepFields(a.trailer, unread[:n])
			return nil, io.EOF
		case done:
			return nil, io.EOF
		case data.Len() > 0:
			return data.Of(unread), nil
		case n > 0: // trailers begin with a call of their own
			continue
		}
		if err := a.fill(read); err != nil {
			return nil, err
		}
	}
}

// checkArrived checks the part of the chunked body that arrived with the head,
// and leaves it unread.
func (a *answer) checkArrived() error {
	if a.framing != http1.BodyChunked {
		return nil
	}
	ahead, unread := a.chunks, a.buf[a.r:a.w]
	ahead.Trailers = nil
	for {
		_, n, done, err := ahead.Next(unread)
		if err != nil {
			return malformedChunks(err)
		}
		if n == 0 || done {
			return nil
		}
		unread = unread[n:]
	}
}

// take returns the unread bytes, at most left.
func (a *answer) take() []byte {
	n := int(min(a.left, int64(a.w-a.r)))
	p := a.buf[a.r : a.r+n]
	a.r += n
	a.left -= int64(n)
	return p
}

// more ensures that there is an unread byte. It returns io.ErrUnexpectedEOF at
// the end of the stream, because the caller knows that more must follow.
func (a *answer) more(read waiter) error {
	if a.r < a.w {
		return nil
	}
	return a.fill(read)
}

// fill reads once and appends to the unread bytes.
func (a *answer) fill(read waiter) error {
	n, err := read(a)
	a.w += n
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
