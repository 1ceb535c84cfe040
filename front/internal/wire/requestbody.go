package wire

import (
	"github.com/weirhq/weir/front/stage"
	"io"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/transport"
)

// A requestBody reads the body of a request over HTTP/1. One goroutine may read from it.
// It is a [proxying.SpaceReader].
type requestBody struct {
	conn     *clientConn
	response *responder
	into     transport.Space // of the read in progress
	fixed    fixedSpace      // into, for Read
	left     int64           // bytes of a body with a known length
	chunked  bool
	chunk    http1.ChunkReader
	err      error // of the chunks

	trailer  http1.Fields
	trailers []byte // the section that the spans of trailer refer to

	mustContinue atomic.Bool // the client waits for 100
	ended        atomic.Bool
}

// begin sets the body: of the given length, or in chunks if it is -1.
func (b *requestBody) begin(w *responder, length int64, expectsContinue bool) {
	c := w.conn
	b.conn, b.response, b.left = c, w, length
	if b.chunked = length < 0; b.chunked {
		b.chunk.Request, b.chunk.MaxTrailer, b.chunk.Trailers = true, c.server.limits().Headers, &b.trailer
		b.chunk.Reset()
	}
	b.mustContinue.Store(expectsContinue && length != 0)
	b.ended.Store(length == 0)
}

func (b *requestBody) reset() {
	b.conn, b.response, b.into, b.err, b.trailers = nil, nil, nil, nil, nil
}

// A fixedSpace is a Space that is held all the time.
type fixedSpace struct{ p []byte }

func (s *fixedSpace) Space() []byte { return s.p }
func (s *fixedSpace) GiveBack()     {}

// read is the Read of a body, by its ReadInto.
func (s *fixedSpace) read(b proxying.SpaceReader, p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.p = p
	n, err = b.ReadInto(s)
	s.p = nil
	return n, err
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) { return b.fixed.read(b, p) }

// ReadInto implements proxying.SpaceReader. The first call sends 100 to a client that waits
// for it.
func (b *requestBody) ReadInto(s transport.Space) (n int, err error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.ended.Load():
		return 0, io.EOF
	}
	if b.mustContinue.Swap(false) {
		if err := b.response.sendContinue(); err != nil {
			return 0, err
		}
	}
	if b.chunked {
		return b.readChunks(s)
	}
	return b.readPlain(s)
}

// Space implements transport.Space for a body of known length.
func (b *requestBody) Space() []byte {
	p := b.into.Space()
	return p[:min(int64(len(p)), b.left)]
}

// GiveBack implements transport.Space.
func (b *requestBody) GiveBack() { b.into.GiveBack() }

func (b *requestBody) readPlain(s transport.Space) (n int, err error) {
	b.into = s
	if in := b.conn.in; in.r < in.w {
		n = copy(b.Space(), in.unread())
		in.r += n
	} else {
		n, err = b.conn.ReadInto(b)
	}
	if b.left -= int64(n); b.left == 0 {
		b.end()
		return n, nil
	}
	return n, unexpected(err)
}

// readChunks decodes chunks from the input. If the input is empty, it reads directly into
// the space if that is long.
func (b *requestBody) readChunks(s transport.Space) (n int, err error) {
	in := b.conn.in
	for {
		taken := 0
		if in.r < in.w {
			taken, n, b.err = b.decode(s.Space(), in.unread())
			in.r += taken
		}
		switch {
		case b.err != nil:
			return n, b.err
		case n > 0:
			return n, nil
		case b.ended.Load():
			return 0, io.EOF
		}
		long := len(s.Space()) >= inputSize
		s.GiveBack()
		if in.r < in.w || !long {
			m, err := b.conn.ReadInto(b.conn)
			if in.w += m; err != nil {
				return 0, unexpected(err)
			}
			continue
		}
		m, err := b.conn.ReadInto(s)
		if err != nil {
			return 0, unexpected(err)
		}
		p := s.Space()
		taken, n, b.err = b.decode(p, p[:m])
		in.add(p[taken:m])
		if n > 0 || b.err != nil {
			return n, b.err
		}
		s.GiveBack()
	}
}

// decode decodes bytes of the wire into dst, which may begin at the same place.
func (b *requestBody) decode(dst, wire []byte) (taken, n int, err error) {
	for taken < len(wire) && n < len(dst) && !b.ended.Load() {
		rest := wire[taken:]
		data, used, done, err := b.chunk.Next(rest[:min(len(rest), len(dst)-n)])
		if used == 0 && err == nil {
			// This is the section of trailers, which has to be complete in one call.
			data, used, done, err = b.chunk.Next(rest)
		}
		if err != nil {
			return taken, n, err
		}
		n += copy(dst[n:], data.Of(rest))
		taken += used
		if done {
			if b.trailer.Len() > 0 {
				b.trailers = append([]byte(nil), rest[:used]...)
			}
			b.end()
		}
		if used == 0 {
			break
		}
	}
	return taken, n, nil
}

// appendTrailers appends the trailers, which the body has after its end.
func (b *requestBody) appendTrailers(dst []proxying.Field) []proxying.Field {
	if !b.ended.Load() {
		return dst
	}
	for i := range b.trailer.Len() {
		f := b.trailer.At(i)
		dst = append(dst, proxying.Field{Name: string(f.Name.Of(b.trailers)), Value: string(f.Value.Of(b.trailers))})
	}
	return dst
}

// end records that the body was read to its end.
func (b *requestBody) end() {
	b.ended.Store(true)
	b.conn.bodyEnded()
}

// hasEnded reports whether the body was read to its end. A request without a body has
// ended from the beginning.
func (b *requestBody) hasEnded() bool { return b.ended.Load() }

// discard reads the rest of a short body, so that the connection can be used again. It
// reports whether the rest has arrived.
func (b *requestBody) discard() bool {
	b.conn.SetReadDeadline(time.Now().Add(restTimeout))
	space := make([]byte, 512)
	for n := 0; n <= stage.MaxDiscard; {
		m, err := b.Read(space)
		if n += m; err != nil || b.ended.Load() {
			break
		}
	}
	return b.ended.Load()
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
