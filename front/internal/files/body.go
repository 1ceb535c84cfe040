package files

import (
	"crypto/rand"
	"net/http"
	"strconv"
)

// A Response is the part of a response that depends on a file and the conditions of a
// request.
type Response struct {
	Status       int    // 200, 206, 304, 412 or 416
	Type         string // Content-Type, with 200 and 206
	ContentRange string // with 416, and with 206 of one range
	Length       int64  // of the body, with 200 and 206
	Body         []Part // with 200 and 206
}

// A Part of a body is a text and a range of a file, which may be empty.
type Part struct {
	Text         string
	From, Length int64
}

// Respond determines the response to a GET, or to a HEAD, for which ranges are not defined.
func (c *Conditions) Respond(f *Found, v Version, head bool) Response {
	if status := c.Check(v); status != 0 {
		return Response{Status: status}
	}
	whole := Response{Status: http.StatusOK, Type: f.Type, Length: f.Size, Body: []Part{{Length: f.Size}}}
	if c.Range == "" || head || f.Size == 0 || !c.mayRange(v) {
		return whole
	}
	switch spans, ignored := parseRange(c.Range, f.Size); {
	case ignored:
		return whole
	case len(spans) == 0:
		return Response{Status: http.StatusRequestedRangeNotSatisfiable,
			ContentRange: "bytes */" + strconv.FormatInt(f.Size, 10)}
	case len(spans) == 1:
		s := spans[0]
		return Response{Status: http.StatusPartialContent, Type: f.Type, ContentRange: s.contentRange(f.Size),
			Length: s.length, Body: []Part{{From: s.from, Length: s.length}}}
	default:
		return multipart(f, spans)
	}
}

// multipart returns the response with several ranges (RFC 9110, section 14.6).
func multipart(f *Found, spans []span) Response {
	boundary := rand.Text()
	r := Response{Status: http.StatusPartialContent, Type: "multipart/byteranges; boundary=" + boundary}
	separator := "--" + boundary
	for _, s := range spans {
		text := separator + "\r\nContent-Range: " + s.contentRange(f.Size) + "\r\nContent-Type: " + f.Type + "\r\n\r\n"
		r.Body = append(r.Body, Part{Text: text, From: s.from, Length: s.length})
		separator = "\r\n--" + boundary
	}
	r.Body = append(r.Body, Part{Text: separator + "--\r\n"})
	for _, p := range r.Body {
		r.Length += int64(len(p.Text)) + p.Length
	}
	return r
}
