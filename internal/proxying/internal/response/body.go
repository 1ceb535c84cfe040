package response

import (
	"io"

	"github.com/weirhq/weir/internal/http1"
)

// Next returns the next part of the body as a view into the buffer, valid until
// the following call, or io.EOF after the last one. It calls read if it needs
// more bytes.
func (r *Reader) Next(read ReadFunc) ([]byte, error) {
	switch r.Framing {
	case http1.BodyLength:
		return r.nextOfLength(read)
	case http1.BodyChunked:
		return r.nextOfChunks(read)
	case http1.BodyUntilClose:
		return r.nextUntilClose(read)
	}
	return nil, io.EOF
}

func (r *Reader) nextOfLength(read ReadFunc) ([]byte, error) {
	if r.Left == 0 {
		return nil, io.EOF
	}
	if err := r.more(read); err != nil {
		return nil, err
	}
	return r.take(), nil
}

func (r *Reader) nextUntilClose(read ReadFunc) ([]byte, error) {
	r.Left = BufferSize
	err := r.more(read)
	if err == io.ErrUnexpectedEOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	return r.take(), nil
}

// nextOfChunks decodes a body in chunks, RFC 9112 section 7.1.
func (r *Reader) nextOfChunks(read ReadFunc) ([]byte, error) {
	for {
		unread := r.buf[r.from:r.to]
		data, n, done, err := r.chunks.Next(unread)
		if err != nil {
			return nil, malformedChunks(err)
		}
		r.from += n
		switch {
		case done && n > 0:
			r.Trailer = r.keepFields(r.Trailer, unread[:n])
			return nil, io.EOF
		case done:
			return nil, io.EOF
		case data.Len() > 0:
			return data.Of(unread), nil
		case n > 0: // trailers begin with a call of their own
			continue
		}
		if err := r.fill(read); err != nil {
			return nil, err
		}
	}
}

// CheckArrived checks the part of the chunked body that arrived with the head,
// and leaves it unread.
func (r *Reader) CheckArrived() error {
	if r.Framing != http1.BodyChunked {
		return nil
	}
	ahead, unread := r.chunks, r.buf[r.from:r.to]
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
func (r *Reader) take() []byte {
	n := int(min(r.Left, int64(r.to-r.from)))
	p := r.buf[r.from : r.from+n]
	r.from += n
	r.Left -= int64(n)
	return p
}
