package http2

import (
	"golang.org/x/net/http2"
)

// maxHeads is how many heads of a response may wait to be read. A server that sends so many
// informational ones at once is faulty.
const maxHeads = 16

// classifyResponse determines the use of a header block from a server. mu is held.
func (c *Conn) classifyResponse(b *headerBlock) *Error {
	s := c.streams[b.stream]
	switch {
	case s == nil && b.stream > c.last:
		return protocolError("HEADERS on a stream that is not open")
	case s == nil:
		b.use = ignored // sent before the server knew of the end
	case s.recvEnded:
		b.use, b.failure = failure, &Error{http2.ErrCodeStreamClosed, ClosedStream, "HEADERS after the end of the stream"}
	case !s.headRead:
		b.use = head
	case !b.end:
		b.use, b.failure = failure, badTrailers("trailers do not end the stream")
	default:
		b.use = trailers
	}
	return nil
}

// endResponse handles the complete head of a response.
func (c *Conn) endResponse(b *headerBlock) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[b.stream]
	switch {
	case s == nil: // it has ended since the block has begun
		return nil
	case b.size > b.limit:
		return c.streamFailed(s, &Error{http2.ErrCodeEnhanceYourCalm, HeaderList, "the header list is too long"})
	case len(s.heads) == maxHeads:
		return c.streamFailed(s, malformed("there are too many informational responses"))
	}
	h, wrong := readResponse(b.into.fields, b.end, s.headOnly)
	if wrong != "" {
		return c.streamFailed(s, malformed(wrong))
	}
	b.into.fields = nil // owned by h
	s.heads = append(s.heads, h)
	s.answered = true
	if h.Status >= 200 {
		s.headRead = true
		if !h.Ends && !s.headOnly {
			s.declared = h.Length
		}
	}
	s.reader.wake()
	if b.end {
		return c.endBody(s)
	}
	return nil
}

// receiveGoAway handles a GOAWAY frame of a server. The streams above its last one were not processed.
// mu is held, here and below.
func (c *Conn) receiveGoAway(f *http2.GoAwayFrame) {
	c.client.goAway = true
	for _, s := range c.streams {
		if s.id > f.LastStreamID {
			c.abort(s, ErrRefused, endedByPeer)
		}
	}
	if c.running == 0 {
		c.stopAccepting()
	}
}

// stopRequest handles a RST_STREAM frame of a server that has sent a complete response, and does not need the rest of
// the request (RFC 9113, section 8.1).
func (c *Conn) stopRequest(s *Stream) {
	s.stopped = true
	s.writer.wake()
	c.forget(s, endedByPeer)
}

// resetResponse handles a RST_STREAM frame of a server that has not sent a complete response.
func (c *Conn) resetResponse(s *Stream, code http2.ErrCode) {
	if code == http2.ErrCodeRefusedStream && !s.answered { // otherwise the server has processed it
		c.abort(s, ErrRefused, endedByPeer)
	} else {
		c.abort(s, &ResetError{code}, endedByPeer)
	}
}
