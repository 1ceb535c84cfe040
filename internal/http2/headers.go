package http2

import (
	"encoding/binary"
	"errors"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// maxFrames is the maximum number of frames of a header block.
const maxFrames = 100

// headers handles the payload of a HEADERS frame.
func (c *Conn) headers(p []byte, flags http2.Flags, id uint32) *Error {
	b := headerBlock{stream: id, end: flags.Has(http2.FlagHeadersEndStream), limit: c.owner.Limits().HeaderList}
	if id%2 == 0 {
		return protocolError("HEADERS on a stream that clients cannot open")
	}
	padding := 0
	if flags.Has(http2.FlagHeadersPadded) {
		if len(p) == 0 {
			return &Error{http2.ErrCodeFrameSize, FrameSize, "a padded frame has no length of padding"}
		}
		padding, p = int(p[0]), p[1:]
	}
	dependency := uint32(0)
	if flags.Has(http2.FlagHeadersPriority) {
		if len(p) < 5 {
			return &Error{http2.ErrCodeFrameSize, FrameSize, "a HEADERS frame has no space for its priority"}
		}
		dependency, p = binary.BigEndian.Uint32(p)&(1<<31-1), p[5:]
	}
	if padding > len(p) {
		return protocolError("the padding is longer than the frame")
	}
	c.mu.Lock()
	err := c.classify(&b)
	c.unlock()
	if err != nil {
		return err
	}
	if dependency == id {
		b.use, b.failure = failure, protocolError("a stream depends on itself")
	}
	if b.use == head || b.use == trailers {
		b.into = streams.Get().(*Stream)
	}
	c.block = b
	c.decode.SetMaxStringLength(2 * b.limit) // as in fragment: a list above the limit gets a response
	c.decode.SetEmitEnabled(b.into != nil)
	return c.fragment(p[:len(p)-padding], flags)
}

// classify determines the use of a header block. mu is held.
func (c *Conn) classify(b *headerBlock) *Error {
	if c.client != nil {
		return c.classifyResponse(b)
	}
	s := c.streams[b.stream]
	switch {
	case s != nil && s.recvEnded:
		b.use, b.failure = failure, &Error{http2.ErrCodeStreamClosed, ClosedStream, "HEADERS after the end of the stream"}
	case s != nil && !b.end:
		b.use, b.failure = failure, badTrailers("trailers do not end the stream")
	case s != nil:
		b.use = trailers
	case b.stream > c.last && c.state >= closing:
		b.use = ignored
	case b.stream > c.last:
		c.last, c.opening, b.use = b.stream, true, head
		if len(c.streams) >= MaxStreams || c.running >= MaxStreams {
			b.use, b.failure = failure, &Error{http2.ErrCodeRefusedStream, Refused, "too many streams"}
		}
	default:
		switch c.closed.ending(b.stream) {
		case endedByUs:
			b.use = ignored
		case unknownEnding:
			return protocolError("the number of a stream is lower than the number of another one")
		default:
			return &Error{http2.ErrCodeStreamClosed, ClosedStream, "HEADERS on a stream that has ended"}
		}
	}
	return nil
}

// continuation handles the payload of a CONTINUATION frame.
func (c *Conn) continuation(p []byte, flags http2.Flags, id uint32) *Error {
	if c.block.stream == 0 || id != c.block.stream {
		return protocolError("CONTINUATION without a header block")
	}
	return c.fragment(p, flags)
}

// fragment decodes a part of the header block.
func (c *Conn) fragment(p []byte, flags http2.Flags) *Error {
	b := &c.block
	b.bytes += len(p)
	b.frames++
	switch {
	case b.frames > maxFrames:
		return c.abandonBlock(flood(Continuations))
	case b.bytes > 2*b.limit:
		return c.abandonBlock(&Error{http2.ErrCodeEnhanceYourCalm, HeaderList, "a header block is too long"})
	}
	if _, err := c.decode.Write(p); err != nil {
		if errors.Is(err, hpack.ErrStringLength) {
			return c.abandonBlock(&Error{http2.ErrCodeEnhanceYourCalm, HeaderList, "a field is too long"})
		}
		return c.abandonBlock(&Error{http2.ErrCodeCompression, Compression, err.Error()})
	}
	if !flags.Has(http2.FlagHeadersEndHeaders) {
		return nil
	}
	if err := c.decode.Close(); err != nil {
		return c.abandonBlock(&Error{http2.ErrCodeCompression, Compression, err.Error()})
	}
	done := *b
	*b = headerBlock{}
	return c.endBlock(&done)
}

// abandonBlock releases the header block because of an error of the connection.
func (c *Conn) abandonBlock(e *Error) *Error {
	if c.block.into != nil {
		c.block.into.release()
	}
	c.block = headerBlock{}
	return e
}

// emit collects a field.
func (c *Conn) emit(f hpack.HeaderField) {
	b := &c.block
	if b.size += int(f.Size()); b.size > b.limit {
		c.decode.SetEmitEnabled(false)
		return
	}
	b.into.fields = append(b.into.fields, f)
}

// endBlock handles a complete header block.
func (c *Conn) endBlock(b *headerBlock) *Error {
	if c.client != nil && b.use == head {
		defer b.into.release()
		return c.endResponse(b)
	}
	if b.use == head && b.size <= b.limit {
		s := b.into
		if s.cookies, b.fault = s.Request.Read(s.fields, b.end, s.cookies); b.fault.Status != 0 {
			b.use, b.failure = failure, malformed(b.fault.Reason)
			if b.fault.Status == 417 {
				b.failure = &Error{http2.ErrCodeNo, Expectation, b.fault.Reason}
			}
		}
	}
	opened, err := c.applyBlock(b)
	switch {
	case opened != nil:
		c.owner.Opened(opened)
	case b.into != nil:
		b.into.release()
	}
	return err
}

// applyBlock changes the state of the stream of a header block. It returns the stream that was
// opened, or nil.
func (c *Conn) applyBlock(b *headerBlock) (opened *Stream, err *Error) {
	c.mu.Lock()
	defer c.unlock()
	c.opening = false
	if opened, err = c.useBlock(b); opened == nil && err == nil {
		c.endIfDrained()
	}
	return opened, err
}

// useBlock is applyBlock for a caller that holds mu, as below.
func (c *Conn) useBlock(b *headerBlock) (opened *Stream, err *Error) {
	s := c.streams[b.stream]
	switch {
	case b.use == ignored:
	case b.use == failure && s == nil && b.fault.Status != 0:
		return nil, c.refuseHead(b, b.failure, b.fault.Status)
	case b.use == failure && s == nil:
		return nil, c.refuseStream(b.stream, b.failure)
	case b.use == failure:
		return nil, c.streamFailed(s, b.failure)
	case b.use == head && b.size > b.limit:
		return nil, c.refuseHead(b, &Error{http2.ErrCodeNo, HeaderList, "the header list is too long"}, 431)
	case b.use == head:
		c.open(b)
		return b.into, nil
	case s == nil: // it has ended since the block has begun
	case b.size > b.limit:
		return nil, c.streamFailed(s, &Error{http2.ErrCodeEnhanceYourCalm, Trailers, "the trailers are too long"})
	default:
		return nil, c.setTrailers(s, b.into)
	}
	return nil, nil
}

// open adds a stream.
func (c *Conn) open(b *headerBlock) {
	s := b.into
	s.conn, s.id = c, b.stream
	s.declared, s.recvEnded = s.Request.Length, b.end
	s.window, s.recvWindow, s.sendWindow = c.recvInitial, c.recvInitial, c.initialWindow
	c.streams[s.id] = s
	c.running++
	if c.state == unused {
		c.announce()
	}
}

// setTrailers ends the body of a stream with trailers.
func (c *Conn) setTrailers(s, from *Stream) *Error {
	for i := range from.fields {
		f := &from.fields[i]
		var wrong string
		switch {
		case c.client == nil:
			wrong = httphead.CheckTrailer(f)
		case f.IsPseudo():
			wrong = httphead.BadTrailer
		default:
			f.Value = httpsyntax.TrimSpace(f.Value)
			wrong = httphead.CheckField(f)
		}
		if wrong != "" {
			return c.streamFailed(s, badTrailers(wrong))
		}
	}
	s.trailers, from.fields = from.fields, s.trailers
	return c.endBody(s)
}

// refuseHead responds to a request that is not valid, and resets the stream. Without a response,
// some clients would send the request again.
func (c *Conn) refuseHead(b *headerBlock, e *Error, status int) *Error {
	c.owner.Failed(e, false)
	h := NewHead()
	defer release(h)
	h.Status(status)
	h.Add("content-length", "0")
	c.appendHead(b.stream, h.Bytes, true)
	c.closed.add(b.stream, endedByUs)
	if err := c.respond(func(f *http2.Framer) { f.WriteRSTStream(b.stream, e.Code) }); err != nil {
		return err
	}
	return c.spendReset()
}
