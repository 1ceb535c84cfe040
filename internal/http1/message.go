package http1

import (
	"bytes"

	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// The limits of a parser that sets no others.
const (
	DefaultMaxHead   = 64 << 10
	DefaultMaxFields = 256
)

// maxOptions limits the elements of Connection. A proxy compares each field with each of
// them.
const maxOptions = 64

// A Framing says where the body of a message ends (RFC 9112, section 6.3).
type Framing uint8

const (
	BodyNone       Framing = iota
	BodyLength             // after Length bytes, which may be 0
	BodyChunked            // after the trailers; see ChunkReader
	BodyUntilClose         // with the connection; only in responses
)

// Message is the part that the heads of requests and of responses share. Each of their
// parsers has its own loop over the fields and its own switch over their names: a common
// loop cost 6% of the time for the head of a request and 8% for that of a response, and a
// common switch 3% and 2%.
type Message struct {
	HTTP10  bool // HTTP/1.0, not HTTP/1.1
	Close   bool // the sender does not use the connection after this message
	Framing Framing
	Length  int64 // the value of Content-Length, -1 without one

	coded, closes, keeps bool
	options, fields      int // counts
}

func (m *Message) reset() {
	m.HTTP10, m.Close, m.Framing, m.Length = false, false, BodyNone, -1
	m.coded, m.closes, m.keeps, m.options, m.fields = false, false, false, 0, 0
}

// interesting contains the lengths of the names that the parsers look at.
var interesting = [32]bool{
	len("Host"): true, len("Expect"): true, len("Trailer"): true, len("Connection"): true,
	len("Content-Length"): true, len("Transfer-Encoding"): true,
}

// named reports whether a field has the given name. Callers compare the lengths first.
func named(buf []byte, f Field, name string) bool { return httpsyntax.EqualFold(f.Name.Of(buf), name) }

func (m *Message) readLength(value []byte) (reason string) {
	switch {
	case m.Length >= 0:
		return errTwoSizes
	case m.coded:
		return errTwoWays
	}
	length, ok := httphead.Decimal(value)
	if !ok {
		return errSize
	}
	m.Length = length
	return ""
}

// readCoding checks the version and the other fields. The caller checks the coding.
func (m *Message) readCoding() (reason string) {
	m.coded = true
	switch {
	case m.HTTP10:
		return errCoding10
	case m.Length >= 0:
		return errTwoWays
	}
	return ""
}

func (m *Message) readConnection(value []byte) (reason string) {
	for more := true; more; {
		var option []byte
		option, value, more = bytes.Cut(value, comma)
		if m.options++; m.options > maxOptions {
			return errOptions
		}
		option = httpsyntax.TrimSpace(option)
		m.closes = m.closes || httpsyntax.EqualFold(option, "close")
		m.keeps = m.keeps || httpsyntax.EqualFold(option, "keep-alive")
	}
	return ""
}

var comma = []byte{','}

// finish sets Close and Framing from the fields.
func (m *Message) finish() {
	m.Close = m.closes || m.HTTP10 && !m.keeps
	switch {
	case m.coded:
		m.Framing = BodyChunked
	case m.Length >= 0:
		m.Framing = BodyLength
	}
}
