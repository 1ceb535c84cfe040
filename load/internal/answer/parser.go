// Package answer reads HTTP/1.x answers just enough to know their status and
// where they end, as a load generator needs it.
//
// A [Parser] is fed what comes from a connection, in whatever pieces it comes.
// It keeps nothing of what it was fed but a line that a piece left unfinished,
// and allocates for that alone: a head that is whole in its piece is read where
// it lies.
//
// It is strict about what says where an answer ends, and lenient about all
// else, which it does not look at. Lines may end with a bare LF.
package answer

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// What bounds an answer.
const (
	maxHead      = 64 << 10 // bytes of a head and the 1xx heads before it, and of trailers
	maxChunkLine = 4 << 10  // bytes of the line that has a chunk's size
	maxLength    = 1 << 62  // bytes of a body or a chunk
)

// maxKept is how much of an unfinished line's memory stays with an idle Parser.
const maxKept = 128

// A Parser reads the answers of one connection, one after the other. The zero
// Parser is ready. It may not be used by several goroutines at once, and after
// an error only by Reset, Status and Begun.
type Parser struct {
	// Memory, if not nil, is looked at first: most servers answer with the same
	// head for as long as their Date lasts, and comparing is several times faster
	// than reading. The Parsers of a goroutine may share one.
	Memory *Memory

	carry []byte // the beginning of a line whose end has not come

	// length is what Content-Length says, -1 without one; left is how much of
	// the body or the chunk is still to come, and read how much of the body
	// has.
	length, left, read int64

	size  int32 // bytes of the head, the trailers or the chunk's line
	lines int32 // whole ones of the head

	status int16
	stage  stage
	coding coding

	old       bool // HTTP/1.0
	keepAlive bool // is asked for
	close     bool
	framing   bool // the last field was one that says where the answer ends
}

type stage uint8

// The stages of an answer. An answer begins with its first byte.
const (
	idle stage = iota
	statusLine
	fieldLines
	body       // as long as Content-Length says
	streamBody // until the connection ends
	chunkSize
	chunkData
	chunkCR // what follows a chunk's data
	chunkLF
	trailer
)

// coding is what Transfer-Encoding says of a body's end.
type coding uint8

const (
	notCoded coding = iota
	chunked
	unknownCoding // its end is the connection's
)

// Feed takes bytes from b, at most those of one answer, and returns how many.
// done tells that the answer is whole; what is left of b belongs to the next
// one. Without done or an error all of b was taken. noBody says that the
// request was a HEAD, and has to be said alike in all calls for an answer. b is
// not kept.
//
// Answers of 1xx are passed over; they belong to the answer that follows. An
// error is an [*Error].
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

// EOF says that the connection has ended. An answer that ends with it is done.
// Of one that had begun and is not whole, err says what is missing and wraps
// [io.ErrUnexpectedEOF]; when none had begun, err is [io.EOF].
func (p *Parser) EOF() (done bool, err error) {
	switch p.stage {
	case idle:
		return false, io.EOF
	case streamBody:
		p.stage = idle
		return true, nil
	case statusLine, fieldLines:
		return false, fmt.Errorf("the connection ended in line %d of the answer's head: %w", p.lines+1, io.ErrUnexpectedEOF)
	case body:
		return false, fmt.Errorf("the connection ended after %d of %d bytes of the answer's body: %w", p.read, p.length, io.ErrUnexpectedEOF)
	}
	return false, fmt.Errorf("the connection ended after %d bytes of the answer's body, before its last chunk was whole: %w", p.read, io.ErrUnexpectedEOF)
}

// Status is that of the last answer that has begun, 0 as long as it is not
// known.
func (p *Parser) Status() int { return int(p.status) }

// Close tells whether the server will close the connection after the answer
// that was read last: it says so, speaks HTTP/1.0 and does not say otherwise,
// or framed the answer in a way after which nothing can be trusted.
func (p *Parser) Close() bool { return p.close }

// Begun tells whether bytes of an answer have come that is not whole.
func (p *Parser) Begun() bool { return p.stage != idle }

// Reset makes p ready for another connection.
func (p *Parser) Reset() { *p = Parser{Memory: p.Memory, carry: kept(p.carry)} }

func (p *Parser) begin() {
	*p = Parser{Memory: p.Memory, carry: kept(p.carry), length: -1, stage: statusLine}
}

// kept returns a carry that has nothing in it, and not much memory.
func kept(carry []byte) []byte {
	if cap(carry) > maxKept {
		return nil
	}
	return carry[:0]
}

// skip takes what b has of the body or the chunk.
func (p *Parser) skip(b []byte) int {
	n := int(min(int64(len(b)), p.left))
	p.left -= int64(n)
	p.read += int64(n)
	return n
}

// line takes a line, or what b has of it, and counts its bytes. ok tells that
// it is whole; the line is without its end, and valid until the next call.
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

// An Error says that what came is no answer, or not one whose end can be known.
type Error struct {
	What  string // is wrong, "the chunk's size is no hexadecimal number"
	Text  string // in which text; its beginning when that is long
	Where string // that was, "line 3 of the head"
}

// maxQuoted is how many bytes of a bad text an error shows, escaped.
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

// bad is an error about a text in the head or the chunks, wherever p is.
func (p *Parser) bad(what string, text []byte) error {
	where := fmt.Sprintf("line %d of the head", p.lines+1)
	if p.stage > streamBody {
		where = fmt.Sprintf("the chunks, after %d bytes of the body", p.read)
	}
	return &Error{What: what, Text: string(text[:min(len(text), maxQuoted+1)]), Where: where}
}
