package http1

import (
	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// A ResponseHead is the head of a response. Its spans refer to the buffer of the last
// call of Parse.
type ResponseHead struct {
	Message
	Status int
	Reason Span // the text after the status, without the space; it may be empty
}

// A ResponseParser parses the heads of responses. The zero value is ready to use.
// Goroutines must not share one.
type ResponseParser struct {
	MaxHead   int // bytes of a head with its empty line; 0 means DefaultMaxHead
	MaxFields int // 0 means DefaultMaxFields

	// Fields receives the fields of the head, as in a RequestParser.
	Fields *Fields

	Head ResponseHead // valid after Parse has returned a complete head

	stage stage
	lines lines
}

// Reset prepares p for another connection, or for any message after an error.
func (p *ResponseParser) Reset() { p.stage = finished }

// Parse parses the head at the beginning of buf, as [RequestParser.Parse] does. noBody
// reports that the request was a HEAD: the response then has no body, whatever its fields
// say. A 1xx response is a head of its own, without a body.
func (p *ResponseParser) Parse(buf []byte, noBody bool) (n int, err error) {
	limit := p.MaxHead
	if limit <= 0 {
		limit = DefaultMaxHead
	}
	n, failure := p.parse(buf[:min(len(buf), limit)], noBody)
	if failure == nil && n == 0 && len(buf) >= limit {
		failure = bad(errHead, limit)
	}
	if failure != nil {
		failure.Status = 502
		return 0, failure
	}
	return n, nil
}

func (p *ResponseParser) parse(buf []byte, noBody bool) (int, *Error) {
	maxFields := p.MaxFields
	if maxFields <= 0 {
		maxFields = DefaultMaxFields
	}
	if p.stage != firstLine && p.stage != fieldLines {
		p.stage, p.lines = firstLine, lines{}
		p.Head.Message.reset()
		p.Fields.reset()
		p.Head.Status, p.Head.Reason = 0, Span{}
	}
	if p.stage == firstLine {
		if complete, err := p.statusLine(buf); !complete || err != nil {
			return 0, err
		}
	}
	h := &p.Head
	for {
		f, end, err := p.lines.nextField(buf)
		switch {
		case err != nil || end < 0:
			return 0, err
		case f.Name.End == 0:
			if err := h.finish(noBody); err != nil {
				return 0, err
			}
			p.stage = finished
			return end + 2, nil
		case h.fields == maxFields:
			return 0, &Error{Status: 431, Reason: errFields, Pos: int(f.Name.Start)}
		}
		h.fields++
		if p.Fields != nil {
			p.Fields.add(f)
		}
		if interesting[f.Name.Len()%len(interesting)] {
			if err := h.field(buf, f); err != nil {
				return 0, err
			}
		}
	}
}

// statusLine parses the first line, if it is complete. It rejects another protocol at its
// first bytes, since such a server may never end the line.
func (p *ResponseParser) statusLine(buf []byte) (complete bool, err *Error) {
	const version = "HTTP/1."
	for i := range min(len(buf), len(version)) {
		if buf[i] != version[i] {
			return false, bad(errNotHTTP, i)
		}
	}
	end, err := p.lines.next(buf)
	if end < 0 || err != nil {
		return false, err
	}
	p.stage = fieldLines
	return true, p.Head.statusLine(buf[:end])
}

// statusLine parses "HTTP/1.1 200 OK". If there is no reason, the space before it may be
// missing too: many servers omit it.
func (h *ResponseHead) statusLine(line []byte) *Error {
	const shape = "HTTP/1.1 200"
	if len(line) < len(shape) || line[7] != '1' && line[7] != '0' || line[8] != ' ' ||
		!digit(line[9]) || !digit(line[10]) || !digit(line[11]) || len(line) > len(shape) && line[len(shape)] != ' ' {
		return bad(errStatusLine, min(len(line), len("HTTP/1.")))
	}
	h.HTTP10 = line[7] == '0'
	h.Status = 100*int(line[9]-'0') + 10*int(line[10]-'0') + int(line[11]-'0')
	if h.Status < 100 {
		return bad(errStatus, 9)
	}
	h.Reason = span(min(len(line), len(shape)+1), len(line))
	return nil
}

// field checks a field that determines the end of the response or of the connection.
func (h *ResponseHead) field(buf []byte, f Field) *Error {
	value := f.Value.Of(buf)
	reason := ""
	switch f.Name.Len() {
	case len("Trailer"):
		if named(buf, f, "Trailer") && !httphead.MayAnnounce(value) {
			reason = httphead.BadTrailer
		}
	case len("Connection"):
		if named(buf, f, "Connection") {
			reason = h.readConnection(value)
		}
	case len("Content-Length"):
		if named(buf, f, "Content-Length") {
			reason = h.readLength(value)
		}
	case len("Transfer-Encoding"):
		if named(buf, f, "Transfer-Encoding") {
			if h.coded || !httpsyntax.EqualFold(value, "chunked") {
				reason = errCoding
			} else {
				reason = h.readCoding()
			}
		}
	}
	if reason != "" {
		return bad(reason, int(f.Value.Start))
	}
	return nil
}

// finish determines the framing (RFC 9112, section 6.3).
func (h *ResponseHead) finish(noBody bool) *Error {
	h.Message.finish()
	switch {
	case h.Status < 200:
		if h.coded || h.Length > 0 {
			return bad(errInterim, len("HTTP/1.1 "))
		}
		h.Framing = BodyNone
	case noBody || h.Status == 204 || h.Status == 304:
		h.Framing = BodyNone
	case h.Framing == BodyNone:
		h.Framing, h.Close = BodyUntilClose, true
	}
	return nil
}
