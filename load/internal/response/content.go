package response

import (
	"iter"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Content reads the same bytes of a response as a [Parser], which finds the response's end, and hands out the header
// and the body. So a Parser without a Content costs nothing more. The zero Content is ready to use. Goroutines must not
// share one.
type Content struct {
	head   http1.ResponseParser
	header Header
	chunks http1.ChunkReader
	carry  []byte // the beginning of an incomplete head, or of incomplete trailers
	stage  stage
}

// A Visitor gets the parts of a response.
type Visitor interface {
	Begin(status int, h *Header) // of the head after those with 1xx; h is valid until Begin returns
	Write(b []byte) (int, error) // a part of the body; Write does not keep it
}

// A Header has the fields of a head.
type Header struct {
	fields http1.Fields
	buf    []byte
}

// Values returns the values of a field, which are valid until Feed returns.
func (h *Header) Values(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range h.fields.Len() {
			f := h.fields.At(i)
			if httpsyntax.EqualFold(f.Name.Of(h.buf), name) && !yield(f.Value.Of(h.buf)) {
				return
			}
		}
	}
}

// Feed hands the parts of b to v. b belongs to one response, and the Parser has accepted it. After a response, and on
// another connection, Reset is called.
func (c *Content) Feed(b []byte, noBody bool, v Visitor) {
	for len(b) > 0 {
		if c.stage == idle {
			c.stage, c.carry = inHead, c.carry[:0]
			c.head.MaxHead, c.head.MaxFields, c.head.Fields = maxHead, maxHead, &c.header.fields
		}
		var n int
		switch c.stage {
		case inHead:
			n = c.feedHead(b, noBody, v)
		case chunkBody:
			n = c.feedChunks(b, v)
		default:
			v.Write(b)
			n = len(b)
		}
		b = b[n:]
	}
}

// Reset makes c ready for another response.
func (c *Content) Reset() {
	c.stage, c.carry = idle, kept(c.carry)
	c.head.Reset()
}

// feedHead reads bytes of a head, and returns their number.
func (c *Content) feedHead(b []byte, noBody bool, v Visitor) int {
	buf, had := c.carried(b)
	length, err := c.head.Parse(buf, noBody)
	if err != nil || length == 0 { // the Parser reports an error
		if had == 0 {
			c.carry = append(c.carry, b...)
		}
		return len(b)
	}
	if h := &c.head.Head; h.Status >= 200 {
		c.header.buf = buf
		v.Begin(h.Status, &c.header)
		c.header.buf = nil
		c.stage = body
		if h.Framing == http1.BodyChunked {
			c.stage = chunkBody
			c.chunks = http1.ChunkReader{MaxFields: maxHead}
		}
	}
	c.carry = kept(c.carry)
	return length - had
}

// feedChunks reads bytes of a body in chunks, and returns their number.
func (c *Content) feedChunks(b []byte, v Visitor) int {
	buf, had := c.carried(b)
	data, length, _, err := c.chunks.Next(buf)
	if err != nil || length == 0 {
		if had == 0 {
			c.carry = append(c.carry, b...)
		}
		return len(b)
	}
	if data.Len() > 0 {
		v.Write(data.Of(buf))
	}
	c.carry = kept(c.carry)
	return length - had
}

// carried returns the bytes to parse: b after those that were carried before, whose number is had.
func (c *Content) carried(b []byte) (buf []byte, had int) {
	if had = len(c.carry); had == 0 {
		return b, 0
	}
	c.carry = append(c.carry, b...)
	return c.carry, had
}
