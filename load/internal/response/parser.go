// Package response reads HTTP/1.x responses for a load generator, by the grammar of
// [http1]. It keeps only the status and the end of each response.
//
// A [Parser] is fed the bytes of a connection, in pieces of any size. It copies only heads
// and trailers that do not end in their piece, and allocates only for that. A complete
// head is read in place.
package response

import (
	"bytes"
	"fmt"
	"io"

	"github.com/weirhq/weir/internal/http1"
)

const (
	// maxHead limits a head with the 1xx heads before it, and trailers, in bytes. It is also
	// the limit of fields: their number does not matter to a load generator.
	maxHead = 64 << 10
	// maxKept is the largest buffer that an idle Parser keeps.
	maxKept = 512
	// carryStep limits the bytes that are added to an incomplete head at a time. Bytes after
	// its end are copied needlessly.
	carryStep = 1 << 10
)

// A Parser reads the responses of one connection. The zero Parser is ready to use.
// Goroutines must not share a Parser. After an error only Reset and Status may be called.
type Parser struct {
	// Memory, if not nil, caches heads. Most servers send the same head until their Date
	// changes, and comparing is several times faster than parsing. The Parsers of a
	// goroutine may share one.
	Memory *Memory

	state
	head   http1.ResponseParser
	chunks http1.ChunkReader
	carry  []byte // the beginning of an incomplete head, or of incomplete trailers
}

// state is the part of a Parser that a head determines.
type state struct {
	length, left int64 // bytes of a body with a Content-Length, and how many are left
	read         int64 // bytes of the body so far
	size         int32 // bytes of the 1xx heads so far
	status       int16
	stage        stage
	close        bool
}

type stage uint8

// The stages of a response, which begins with its first byte.
const (
	idle stage = iota
	inHead
	body       // with a Content-Length
	streamBody // until the connection ends
	chunkBody
)

// Feed reads bytes of b, at most to the end of one response, and returns their number. done
// reports that the response has ended; the other bytes of b belong to the next one. Without
// done or an error Feed has read all of b. noBody reports that the request was a HEAD, and
// must be the same in all calls for a response. Feed does not keep b.
//
// Feed skips 1xx responses, which belong to the response after them. Errors are of type
// [*Error].
func (p *Parser) Feed(b []byte, noBody bool) (n int, done bool, err error) {
	if p.stage == idle && len(b) > 0 {
		n, done, err = p.firstHead(b, noBody)
	}
	for n < len(b) && !done && err == nil {
		var took int
		switch p.stage {
		case inHead:
			took, done, err = p.feedHead(b[n:], noBody)
		case body:
			took = int(min(int64(len(b)-n), p.left))
			p.left -= int64(took)
			p.read += int64(took)
			done = p.left == 0
		case streamBody:
			took = len(b) - n
			p.read += int64(took)
		case chunkBody:
			took, done, err = p.feedChunks(b[n:])
		}
		n += took
	}
	if done {
		p.stage = idle
	}
	return n, done, err
}

// feedHead reads bytes of a head. done reports that the response has ended, because it has
// no body.
func (p *Parser) feedHead(b []byte, noBody bool) (n int, done bool, err error) {
	buf, had := p.carried(b)
	length, err := p.head.Parse(buf, noBody)
	switch {
	case err != nil:
		return 0, false, p.bad(err.(*http1.Error), buf)
	case length == 0:
		return p.carryOn(buf, had), false, nil
	}
	done, err = p.endHead(length, buf)
	p.carry = kept(p.carry)
	return length - had, done, err
}

// feedChunks reads bytes of a body in chunks. Only its trailers are carried.
func (p *Parser) feedChunks(b []byte) (n int, done bool, err error) {
	buf, had := p.carried(b)
	data, length, done, err := p.chunks.Next(buf)
	switch {
	case err != nil:
		return 0, false, p.bad(err.(*http1.Error), buf)
	case length == 0:
		return p.carryOn(buf, had), false, nil
	}
	p.read += int64(data.Len())
	p.carry = kept(p.carry)
	return length - had, done, nil
}

// carried returns the bytes to parse: b, or the carry with the beginning of b. had is the
// number of bytes that were carried before.
func (p *Parser) carried(b []byte) (buf []byte, had int) {
	if had = len(p.carry); had == 0 {
		return b, 0
	}
	p.carry = append(p.carry, b[:min(len(b), carryStep)]...)
	return p.carry, had
}

// carryOn carries buf, which is incomplete, and returns how many of its bytes are new.
func (p *Parser) carryOn(buf []byte, had int) (n int) {
	if had == 0 {
		p.carry = append(p.carry, buf...)
	}
	return len(buf) - had
}

// endHead determines the body. done reports that there is none.
func (p *Parser) endHead(length int, buf []byte) (done bool, err error) {
	h := &p.head.Head
	switch {
	case h.Status == 101:
		return false, p.bad(&http1.Error{Reason: "the request did not ask for another protocol"}, buf)
	case h.Status < 200:
		p.size += int32(length)
		p.beginHead()
		return false, nil
	}
	p.status, p.close = int16(h.Status), h.Close
	switch h.Framing {
	case http1.BodyLength:
		p.stage, p.length, p.left = body, h.Length, h.Length
		return h.Length == 0, nil
	case http1.BodyChunked:
		p.stage = chunkBody
		p.chunks.MaxFields = maxHead
		p.chunks.Reset()
	case http1.BodyUntilClose:
		p.stage = streamBody
	default:
		return true, nil
	}
	return false, nil
}

// EOF handles the end of the connection. done reports that a response ends with it. If an
// response has begun and is not complete, err wraps [io.ErrUnexpectedEOF]. If none has
// begun, err is [io.EOF].
func (p *Parser) EOF() (done bool, err error) {
	switch p.stage {
	case idle:
		return false, io.EOF
	case streamBody:
		p.stage = idle
		return true, nil
	case inHead:
		return false, fmt.Errorf("the connection ended in line %d of the response's head: %w",
			1+bytes.Count(p.carry, []byte{'\n'}), io.ErrUnexpectedEOF)
	case body:
		return false, fmt.Errorf("the connection ended after %d of %d bytes of the response's body: %w", p.read, p.length,
			io.ErrUnexpectedEOF)
	}
	return false, fmt.Errorf("the connection ended after %d bytes of the response's body, before its last chunk was "+
		"whole: %w", p.read, io.ErrUnexpectedEOF)
}

// Status returns the status of the current or last response; 0 if it is not known yet.
func (p *Parser) Status() int {
	if p.stage == inHead {
		return p.head.Head.Status
	}
	return int(p.status)
}

// BodyBytes returns the number of bytes of the last response's body, without its chunks' sizes.
func (p *Parser) BodyBytes() int64 { return p.read }

// Close reports whether the server closes the connection after the last response.
func (p *Parser) Close() bool { return p.close }

// Reset makes p ready for another connection.
func (p *Parser) Reset() {
	p.state, p.carry = state{}, kept(p.carry)
	p.head.Reset()
}

// begin begins a response.
func (p *Parser) begin() {
	p.state, p.carry = state{}, kept(p.carry)
	p.beginHead()
}

// beginHead begins the head of a response or of another 1xx response before it.
func (p *Parser) beginHead() {
	p.stage = inHead
	p.head.MaxHead, p.head.MaxFields = max(maxHead-int(p.size), 1), maxHead
	p.head.Head.Status = 0
}

// kept returns an empty carry with a limited capacity.
func kept(carry []byte) []byte {
	if cap(carry) > maxKept {
		return nil
	}
	return carry[:0]
}
