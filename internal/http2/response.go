package http2

import (
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Field is a header field, with a name in lower case.
type Field = hpack.HeaderField

// A Response is the head of a response, final or informational.
type Response struct {
	Status int
	Fields []hpack.HeaderField // without :status; valid until the next call of ReadHead
	Length int64               // content-length; -1 without one
	Ends   bool                // the stream has ended, so there is no body
}

// readResponse returns the head of a header block, or why it is malformed (RFC 9113, section
// 8.3.2).
func readResponse(fields []hpack.HeaderField, ends, headOnly bool) (h Response, wrong string) {
	h.Ends, h.Length = ends, -1
	if len(fields) == 0 || fields[0].Name != ":status" {
		return h, "the first field is not :status"
	}
	status := fields[0].Value
	for _, digit := range []byte(status) {
		if digit < '0' || digit > '9' {
			return h, "the :status is not a number"
		}
		h.Status = 10*h.Status + int(digit-'0')
	}
	switch {
	case len(status) != 3 || h.Status < 100 || h.Status > 599:
		return h, "the :status is not valid"
	case h.Status == 101:
		return h, "the :status is 101, which HTTP/2 does not have"
	case h.Status < 200 && ends:
		return h, "an informational response ends the stream"
	}
	h.Fields = fields[1:]
	for i := range h.Fields {
		f := &h.Fields[i]
		if f.IsPseudo() {
			return h, "a pseudo-header field does not belong in a response"
		}
		f.Value = httpsyntax.TrimSpace(f.Value) // servers of HTTP/1 that speak HTTP/2 send blanks
		if wrong := httphead.CheckField(f); wrong != "" {
			return h, wrong
		}
		if f.Name == "content-length" {
			n, ok := httphead.Decimal(f.Value)
			if !ok || h.Length >= 0 {
				return h, "the content-length is not valid"
			}
			h.Length = n
		}
	}
	if bodiless := headOnly || h.Status == 204 || h.Status == 304 || h.Status < 200; ends && h.Length > 0 && !bodiless {
		return h, "the content-length is not the length of the body"
	}
	return h, ""
}
