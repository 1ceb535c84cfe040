// Package answer parses HTTP/1.x responses for a load generator. It reads only the status
// and the fields that determine the end.
//
// A [Parser] is fed the bytes of a connection, in pieces of any size. It copies only a
// line that does not end in its piece, and allocates only for that. A complete head is
// read in place.
//
// The Parser is strict about fields that determine the end of an answer, and ignores all
// others. Lines may end with a bare LF.
package answer

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// The limits of an answer.
const (
	maxHead      = 64 << 10 // bytes of a head and the 1xx heads before it, and of trailers
	maxChunkLine = 4 << 10  // bytes of the line with a chunk's size
	maxLength    = 1 << 62  // bytes of a body or a chunk
)

// maxKept is the largest buffer that an idle Parser keeps.
const maxKept = 128

// A Parser reads the answers of one connection. The zero Parser is ready to use.
// Goroutines must not share a Parser. After an error only Reset and Status may be called.
type Parser struct {
	// Memory, if not nil, caches heads. Most servers send the same head until their Date
	// changes, and comparing is several times faster than parsing. The Parsers of a
	// goroutine may share one.
	Memory *Memory

	carry []byte // the beginning of an incomplete line

	// length is the Content-Length, -1 without one. left is the number of bytes that are
	// left of the body or the chunk, and read the number of body bytes so far.
	length, left, read int64

	size  int32 // bytes of the head, the trailers or the chunk's line
	lines int32 // complete lines of the head

	status int16
	stage  stage
	coding coding

	old       bool // HTTP/1.0
	keepAlive bool // the Connection field has keep-alive
	close     bool
	framing   bool // the last field determines the end of the answer
}

type stage uint8

// The stages of an answer, which begins with its first byte.
const (
	idle stage = iota
	statusLine
	fieldLines
	body       // with a Content-Length
	streamBody // until the connection ends
	chunkSize
	chunkData
	chunkCR // the line break after a chunk's data
	chunkLF
	trailer
)

// coding is the end of a body according to Transfer-Encoding.
type coding uint8

const (
	notCoded coding = iota
	chunked
	unknownCoding // the body ends with the connection
)

// Feed reads bytes of b, at most to the end of one answer, and returns their number. done
// reports that the answer has ended; the other bytes of b belong to the next one. Without
// done or an error Feed has read all of b. noBody reports that the request was a HEAD, and
// must be the same in all calls for an answer. Feed does not keep b.
//
// Feed skips 1xx answers, which belong to the answer after them. Errors are of type
// [*Error].
func (p *Parser) Feed(b []byte, noBody bool) (n int, done bool, err error) {
	if p.stage == idle && len(b) > 0 {
		p.begin()
		n, done, err = p.firstHead(b, noBody)
	}
	for n < len(b) && !done && err == nil {
		var took int
		switch p.stage {
		case statusLine, fieldLines:
			took, done, err = p.head(b[n:], noBody)
		case body:
			took = p.skip(b[n:])
			done = p.left == 0
		case streamBody:
			took = len(b) - n
			p.read += int64(took)
		default:
			took, done, err = p.chunks(b[n:])
		}
		n += took
	}
	if done {
		p.stage = idle
	}
	return n, done, err
}

// EOF handles the end of the connection. done reports that an answer ends with it. If an
// answer has begun and is not complete, err wraps [io.ErrUnexpectedEOF]. If none has
// begun, err is [io.EOF].
func (p *Parser) EOF() (done bool, err error) {
	switch p.stage {
	case idle:
		return false, io.EOF
	case streamBody:
		p.stage = idle
		return true, nil
	case statusLine, fieldLines:
		return false, fmt.Errorf("the connection ended in line %d of the answer's head: %w", p.lines+1,
			io.ErrUnexpectedEOF)
	case body:
		return false, fmt.Errorf("the connection ended after %d of %d bytes of the answer's body: %w", p.read, p.length,
			io.ErrUnexpectedEOF)
	}
	return false, fmt.Errorf("the connection ended after %d bytes of the answer's body, before its last chunk was "+
		"whole: %w", p.read, io.ErrUnexpectedEOF)
}

// Status returns the status of the current or last answer; 0 if it is not known yet.
func (p *Parser) Status() int { return int(p.status) }

// Close reports whether the connection cannot be used after the last answer: the server
// closes it, or the end of the answer is ambiguous.
func (p *Parser) Close() bool { return p.close }

// Reset makes p ready for another connection.
func (p *Parser) Reset() { *p = Parser{Memory: p.Memory, carry: kept(p.carry)} }

func (p *Parser) begin() {
	*p = Parser{Memory: p.Memory, carry: kept(p.carry), length: -1, stage: statusLine}
}

// kept returns an empty carry with a limited capacity.
func kept(carry []byte) []byte {
	if cap(carry) > maxKept {
		return nil
	}
	return carry[:0]
}

// skip skips the bytes of the body or the chunk.
func (p *Parser) skip(b []byte) int {
	n := int(min(int64(len(b)), p.left))
	p.left -= int64(n)
	p.read += int64(n)
	return n
}

// line reads a line or part of it, and counts its bytes. ok reports whether the line is
// complete. It has no line break, and is valid until the next call.
func (p *Parser) line(b []byte) (line []byte, n int, ok bool) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		p.size += int32(len(b))
		p.carry = append(p.carry, b...)
		return p.carry, len(b), false
	}
	n = end + 1
	p.size += int32(n)
	line = b[:end]
	if len(p.carry) > 0 {
		p.carry = append(p.carry, line...)
		line = p.carry
		p.carry = kept(p.carry)
	}
	if last := len(line) - 1; last >= 0 && line[last] == '\r' {
		line = line[:last]
	}
	return line, n, true
}

// An Error reports bytes that are not an answer, or an answer whose end is unclear.
type Error struct {
	What  string // the mistake, such as "a chunk is longer than its size"
	Text  string // the beginning of the text with the mistake
	Where string // its place, such as "line 3 of the head"
}

// maxQuoted limits the text in an error, in bytes after escaping.
const maxQuoted = 40

func (e *Error) Error() string {
	return "bad answer: " + e.What + ": " + quote(e.Text) + " in " + e.Where
}

func quote(text string) string {
	q := []byte{'"'}
	for i := range len(text) {
		one := strconv.QuoteToASCII(text[i : i+1])
		if len(q)+len(one)-2 > maxQuoted+1 {
			return string(q) + `"...`
		}
		q = append(q, one[1:len(one)-1]...)
	}
	return string(append(q, '"'))
}

// bad returns an Error about a text at the current place.
func (p *Parser) bad(what string, text []byte) error {
	where := fmt.Sprintf("line %d of the head", p.lines+1)
	if p.stage > streamBody {
		where = fmt.Sprintf("the chunks, after %d bytes of the body", p.read)
	}
	return &Error{What: what, Text: string(text[:min(len(text), maxQuoted+1)]), Where: where}
}
