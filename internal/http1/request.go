package http1

import (
	"bytes"

	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// A RequestHead is the head of a request. Its spans refer to the buffer of the last call
// of Parse.
type RequestHead struct {
	Message
	Method, Target Span
	Form           TargetForm
	// Scheme is the scheme of a target in absolute form, "http" or "https". Otherwise it
	// is empty.
	Scheme Span
	// Path is the path and query of a target in origin or absolute form. In absolute form
	// it may be empty or begin with "?".
	Path Span
	// Host is the value of the Host field. It agrees with the authority of the target.
	Host Span
	// Continue reports that the client waits for a 100 response (Expect: 100-continue).
	Continue bool
	// Upgrade reports that there is a field Upgrade.
	Upgrade bool

	authority Span
	coding    int // position of a coding other than chunked, or 0
}

// A TargetForm is the form of a request target (RFC 9112, section 3.2).
type TargetForm uint8

const (
	OriginForm    TargetForm = iota // "/path?query"
	AbsoluteForm                    // "http://host/path?query"
	AuthorityForm                   // "host:port", only with the method CONNECT
	AsteriskForm                    // "*"
)

// A RequestParser parses the heads of requests. The zero value is ready to use.
// Goroutines must not share one.
type RequestParser struct {
	MaxHead        int // bytes of a head with its empty line; 0 means DefaultMaxHead
	MaxRequestLine int // bytes of a request line; 0 means no limit besides MaxHead
	MaxFields      int // 0 means DefaultMaxFields

	// Fields receives the fields of the head. It must not be used for anything else until
	// the head is complete. If it is nil, the fields are checked and not stored.
	Fields *Fields

	Head RequestHead // valid after Parse has returned a complete head

	stage stage
	lines lines
}

type stage uint8

const (
	idle stage = iota // before the first byte of a head
	firstLine
	fieldLines
	finished
)

// Reset prepares p for another connection, or for any message after an error.
func (p *RequestParser) Reset() { p.stage = finished }

// Parse parses the head at the beginning of buf. If it is complete, n is its length with
// the empty line, and Head is valid until the next call; the next call begins another
// head. If the head is incomplete, n is 0. The caller then calls Parse again with a buffer
// that holds the same bytes and more of them; it may be another buffer. Bytes that were
// parsed are not parsed again.
//
// Errors are of type [*Error]. After an error the caller calls Reset before it uses p for
// another connection.
func (p *RequestParser) Parse(buf []byte) (n int, err error) {
	limit := p.MaxHead
	if limit <= 0 {
		limit = DefaultMaxHead
	}
	n, failure := p.parse(buf[:min(len(buf), limit)])
	if failure == nil && n == 0 && len(buf) >= limit {
		failure = &Error{Status: 431, Reason: errHead, Pos: limit}
	}
	if failure != nil {
		return 0, failure
	}
	return n, nil
}

func (p *RequestParser) parse(buf []byte) (int, *Error) {
	maxFields := p.MaxFields
	if maxFields <= 0 {
		maxFields = DefaultMaxFields
	}
	if p.stage != firstLine && p.stage != fieldLines {
		if len(buf) == 0 || buf[0] == '\r' && len(buf) == 1 {
			return 0, nil
		}
		p.begin(buf)
	}
	if p.stage == firstLine {
		if complete, err := p.requestLine(buf); !complete || err != nil {
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
			if err := h.finish(buf); err != nil {
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

// begin begins a head. It skips one empty line (RFC 9112, section 2.2), which some
// clients send after a body.
func (p *RequestParser) begin(buf []byte) {
	h := &p.Head
	h.Message.reset()
	p.Fields.reset()
	h.Method, h.Target, h.Scheme, h.Path, h.Host, h.authority = Span{}, Span{}, Span{}, Span{}, Span{}, Span{}
	h.Form, h.Continue, h.Upgrade, h.coding = OriginForm, false, false, 0
	p.stage, p.lines = firstLine, lines{}
	if len(buf) >= 2 && buf[0] == '\r' && buf[1] == '\n' {
		p.lines = lines{start: 2, seen: 2}
	}
}

// requestLine parses the first line, if it is complete.
func (p *RequestParser) requestLine(buf []byte) (complete bool, err *Error) {
	start := p.lines.start
	long := false
	if limit := start + p.MaxRequestLine + 2; p.MaxRequestLine > 0 && len(buf) >= limit {
		buf, long = buf[:limit], true
	}
	end, err := p.lines.next(buf)
	switch {
	case err != nil:
		return false, err
	case end < 0 && long:
		return false, &Error{Status: 414, Reason: errLongLine, Pos: len(buf)}
	case end < 0:
		return false, nil
	}
	p.stage = fieldLines
	return true, p.Head.requestLine(buf, start, end)
}

// requestLine parses "GET /path HTTP/1.1". Exactly one space separates the parts.
func (h *RequestHead) requestLine(buf []byte, start, end int) *Error {
	method := start + httpsyntax.TokenLen(buf[start:end])
	if method == start || buf[method] != ' ' {
		return bad(errRequestLine, method)
	}
	target := method + 1 + httpsyntax.FindInvisible(httpsyntax.View(buf[method+1:end]))
	if target == method+1 || buf[target] != ' ' {
		return bad(errRequestLine, target)
	}
	h.Method, h.Target = span(start, method), span(method+1, target)
	switch version := buf[target+1 : end]; {
	case string(version) == "HTTP/1.1":
	case string(version) == "HTTP/1.0":
		h.HTTP10 = true
	case string(version) == "HTTP/2.0" && string(h.Method.Of(buf)) == "PRI":
		return bad(errPreface, target+1)
	case len(version) == len("HTTP/1.1") && string(version[:5]) == "HTTP/" && digit(version[5]) && version[5] != '1' &&
		version[6] == '.' && digit(version[7]):
		return &Error{Status: 505, Reason: errVersion, Pos: target + 1}
	default:
		return bad(errVersion, target+1)
	}
	return h.readTarget(buf)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// field checks a field that determines the end or the owner of the request.
func (h *RequestHead) field(buf []byte, f Field) *Error {
	value := f.Value.Of(buf)
	reason := ""
	switch f.Name.Len() {
	case len("Host"):
		if named(buf, f, "Host") {
			reason = h.readHost(buf, f.Value)
		}
	case len("Expect"):
		if named(buf, f, "Expect") {
			fault := httphead.Expect(value, h.Continue)
			h.Continue = true
			if fault.Status != 0 {
				return &Error{Status: fault.Status, Reason: fault.Reason, Pos: int(f.Value.Start)}
			}
		}
	case len("Trailer"): // also of Upgrade
		switch {
		case named(buf, f, "Upgrade"):
			h.Upgrade = true
		case named(buf, f, "Trailer") && !httphead.MayAnnounce(value):
			reason = httphead.BadTrailer
		}
	case len("Connection"):
		if named(buf, f, "Connection") {
			reason = h.readConnection(value)
		}
	case len("Content-Length"):
		if named(buf, f, "Content-Length") {
			if h.coded {
				reason = errTwoWays
			} else {
				h.Length, reason = httphead.Length(value, h.Length >= 0)
			}
		}
	case len("Transfer-Encoding"):
		if named(buf, f, "Transfer-Encoding") {
			if h.coded || !httpsyntax.EqualFold(value, "chunked") {
				h.coding = int(f.Value.Start)
			}
			reason = h.readCoding()
		}
	}
	if reason != "" {
		return bad(reason, int(f.Value.Start))
	}
	return nil
}

func (h *RequestHead) readHost(buf []byte, value Span) (reason string) {
	switch {
	case h.Host != Span{}:
		return httphead.TwoHosts
	case !httphead.ValidHost(value.Of(buf)):
		return httphead.BadHost
	}
	h.Host = value
	if h.Form == AbsoluteForm || h.Form == AuthorityForm {
		if !httphead.SameHost(value.Of(buf), h.authority.Of(buf), h.Scheme.Of(buf)) {
			return httphead.OtherHost
		}
	}
	return ""
}

// finish checks the fields that the head must have, and determines the framing.
func (h *RequestHead) finish(buf []byte) *Error {
	h.Message.finish()
	switch {
	case h.Host == Span{}:
		return bad(httphead.NoHost, int(h.Target.End))
	case h.coding > 0:
		return &Error{Status: 501, Reason: errCoding, Pos: h.coding}
	}
	return nil
}

// readTarget determines the form and the parts of the target.
func (h *RequestHead) readTarget(buf []byte) *Error {
	target := h.Target.Of(buf)
	start := int(h.Target.Start)
	scheme := 0
	switch {
	case target[0] == '/':
		h.Path = h.Target
	case string(h.Method.Of(buf)) == "CONNECT":
		h.Form, h.authority = AuthorityForm, h.Target
		if !httphead.ValidHost(target) || !digit(target[len(target)-1]) || bytes.LastIndexByte(target, ':') < 0 {
			return bad(errTarget, start)
		}
		return nil
	case len(target) == 1 && target[0] == '*':
		h.Form = AsteriskForm
		return nil
	case bytes.HasPrefix(target, []byte("http://")):
		scheme = len("http")
	case bytes.HasPrefix(target, []byte("https://")):
		scheme = len("https")
	default:
		return bad(errTarget, start)
	}
	if scheme > 0 {
		h.Form, h.Scheme = AbsoluteForm, span(start, start+scheme)
		authority := scheme + len("://")
		end := authority
		for end < len(target) && target[end] != '/' && target[end] != '?' {
			end++
		}
		if !httphead.ValidHost(target[authority:end]) {
			return bad(errTarget, start+authority)
		}
		h.authority, h.Path = span(start+authority, start+end), span(start+end, start+len(target))
	}
	return checkEscapes(buf, h.Path)
}

// checkEscapes checks that each "%" of a path, before its query, begins an escape.
func checkEscapes(buf []byte, path Span) *Error {
	b := path.Of(buf)
	if bytes.IndexByte(b, '%') < 0 {
		return nil
	}
	for i, c := range b {
		if c == '?' {
			break
		}
		if c != '%' {
			continue
		}
		if i+2 >= len(b) || !isHex(b[i+1]) || !isHex(b[i+2]) {
			return bad(errTarget, int(path.Start)+i)
		}
	}
	return nil
}

func isHex(c byte) bool {
	_, ok := httpsyntax.Hex(c)
	return ok
}
