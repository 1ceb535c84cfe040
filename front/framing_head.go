package front

import (
	"bytes"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// head is the state of a head that is being parsed.
type head struct {
	http10    bool
	doomed    bool   // net/http rejects it, with its own status
	coded     bool   // it has Transfer-Encoding
	sized     bool   // it has Content-Length
	length    int64  // the value of Content-Length
	expects   bool   // it has Expect
	hosted    bool   // it has Host
	absolute  bool   // the target is a URL
	authority []byte // its host and port; the array is reused
}

const (
	errVersion  ambiguity = "the version is not HTTP/1.0 or HTTP/1.1"
	errFold     ambiguity = "a field is folded"
	errTwoWays  ambiguity = "both Content-Length and Transfer-Encoding"
	errTwoSizes ambiguity = "more than one Content-Length"
	errSize     ambiguity = "Content-Length is not a number"
	errCoding10 ambiguity = "Transfer-Encoding in HTTP/1.0"
	errExpect   ambiguity = "Expect is not 100-continue"
	errHost     ambiguity = "the target and the Host differ"
)

// prefaceLine is the first line of HTTP/2's preface.
const prefaceLine = "PRI * HTTP/2.0"

// readRequestLine parses the first line of a head. An empty line before it is left
// to net/http.
func (f *framing) readRequestLine(line []byte) {
	if len(line) == 0 {
		return
	}
	if !f.again && string(line) == prefaceLine {
		f.state = atPreface
		return
	}
	f.again, f.state = true, atField
	f.head = head{authority: f.head.authority[:0]}
	h := &f.head
	h.readTarget(line)
	switch version := line[max(len(line)-len(" HTTP/1.1"), 0):]; {
	case string(version) == " HTTP/1.1":
	case string(version) == " HTTP/1.0":
		h.http10 = true
	case len(version) == len(" HTTP/1.1") && bytes.HasPrefix(version, []byte(" HTTP/")) && version[6] != '1' &&
		version[7] == '.':
		h.doomed = true // with 505
	default:
		f.err = errVersion
	}
}

// readTarget records the authority of a target in absolute form, which replaces the
// Host in net/http.
func (h *head) readTarget(line []byte) {
	target := line[bytes.IndexByte(line, ' ')+1:]
	if len(target) == 0 || target[0] == '/' || target[0] == '*' {
		return
	}
	_, rest, ok := bytes.Cut(target, []byte("://"))
	if !ok {
		return
	}
	if end := bytes.IndexAny(rest, "/?# "); end >= 0 {
		rest = rest[:end]
	}
	h.absolute, h.authority = true, append(h.authority, rest...)
}

// readField parses a field of a head, or the empty line at its end. It only checks
// fields that determine the end or the owner of a request.
func (f *framing) readField(line []byte) {
	if len(line) == 0 {
		f.endHead()
		return
	}
	switch line[0] {
	case ' ', '\t':
		f.err = errFold
	case 'C', 'c':
		if value, ok := valueOf(line, "Content-Length"); ok {
			f.err = f.head.readLength(value)
		}
	case 'T', 't':
		if value, ok := valueOf(line, "Transfer-Encoding"); ok {
			f.err = f.head.readCoding(value)
		}
	case 'E', 'e':
		if value, ok := valueOf(line, "Expect"); ok {
			f.err = f.head.readExpect(value)
		}
	case 'H', 'h':
		if value, ok := valueOf(line, "Host"); ok {
			f.err = f.head.readHost(value)
		}
	}
}

// valueOf returns the value of a field with the given name.
func valueOf(line []byte, name string) (value []byte, ok bool) {
	if len(line) <= len(name) || line[len(name)] != ':' || !httpsyntax.EqualFold(line[:len(name)], name) {
		return nil, false
	}
	return httpsyntax.TrimSpace(line[len(name)+1:]), true
}

func (h *head) readLength(value []byte) error {
	switch {
	case h.sized:
		return errTwoSizes
	case h.coded:
		return errTwoWays
	case len(value) == 0 || len(value) > 18 || len(value) > 1 && value[0] == '0':
		return errSize
	}
	h.sized = true
	for _, c := range value {
		if c < '0' || c > '9' {
			return errSize
		}
		h.length = h.length*10 + int64(c-'0')
	}
	return nil
}

// readCoding leaves codings other than chunked, and a second coding, to net/http,
// which responds with 501.
func (h *head) readCoding(value []byte) error {
	switch {
	case h.http10:
		return errCoding10
	case h.sized:
		return errTwoWays
	}
	h.doomed = h.doomed || h.coded || !httpsyntax.EqualFold(value, "chunked")
	h.coded = true
	return nil
}

// readExpect leaves an expectation that does not contain 100-continue to net/http,
// which responds with 417.
func (h *head) readExpect(value []byte) error {
	const known = "100-continue"
	already := h.expects
	h.expects = true
	switch {
	case already:
		return errExpect
	case httpsyntax.EqualFold(value, known):
		return nil
	case bytes.Contains(bytes.ToLower(value), []byte(known)):
		return errExpect
	}
	h.doomed = true
	return nil
}

// readHost compares the Host with the target. net/http rejects a second Host.
func (h *head) readHost(value []byte) error {
	if h.absolute && !httpsyntax.EqualFold(value, h.authority) {
		return errHost
	}
	h.hosted = true
	return nil
}
