package proxying

import (
	"strconv"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// collectFields collects the response fields for the client: those that are not
// hop-by-hop, with the edits of the response.
func (x *Exchange) collectFields() {
	a := &x.response
	x.connectionOptions = x.connectionOptions[:0]
	for i := range a.Fields {
		if a.Fields[i].Name == "Connection" {
			x.connectionOptions = appendElements(x.connectionOptions, a.Fields[i].Value)
		}
	}
	x.fields = x.fields[:0]
	for i := range a.Fields {
		f := Field(a.Fields[i])
		switch {
		case f.Name == "Trailer" && (a.Framing == http1.BodyChunked || a.Streamed):
		case f.Name == "Content-Length" && a.Status < 200:
			continue
		case HopByHop(f.Name), contains(x.connectionOptions, f.Name), x.Edits(f.Name):
			continue
		}
		x.fields = append(x.fields, f)
	}
	if a.Status >= 200 || a.Status == 101 {
		x.fields = append(append(x.fields, x.Response...), x.ResponseAdd...)
		if x.SetCookie != "" {
			x.fields = append(x.fields, Field{"Set-Cookie", x.SetCookie})
		}
		if x.transfer.setCookie != "" {
			x.fields = append(x.fields, Field{"Set-Cookie", x.transfer.setCookie})
		}
	}
}

// collectOwnFields collects the fields of a response that is not the upstream's, with the
// edits of the response.
func (x *Exchange) collectOwnFields(fields []Field) {
	x.fields = x.fields[:0]
	for _, f := range fields {
		if !x.Edits(f.Name) {
			x.fields = append(x.fields, f)
		}
	}
	x.fields = append(append(x.fields, x.Response...), x.ResponseAdd...)
}

// Edits reports whether a field of a response is replaced or removed.
func (x *Exchange) Edits(name string) bool {
	return has(x.Response, name) || contains(x.ResponseRemove, name)
}

// passTrailer returns the trailer fields for the client.
func (x *Exchange) passTrailer() []Field {
	x.trailer = x.trailer[:0]
	for _, f := range x.response.Trailer {
		if !framesMessage(f.Name) && !x.Edits(f.Name) {
			x.trailer = append(x.trailer, Field(f))
		}
	}
	return x.trailer
}

// framesMessage reports whether a field must not be sent as a trailer.
func framesMessage(name string) bool {
	return HopByHop(name) || httpsyntax.EqualFold(name, "Content-Length")
}

// statusText returns the text of a status that package proxying, or a user of its
// Exchange, sends itself.
func statusText(status int) string {
	if text, ok := statusTexts[status]; ok {
		return strconv.Itoa(status) + " " + text
	}
	return strconv.Itoa(status)
}

var statusTexts = map[int]string{
	301: "Moved Permanently",
	302: "Found",
	307: "Temporary Redirect",
	308: "Permanent Redirect",
	400: "Bad Request",
	401: "Unauthorized",
	403: "Forbidden",
	404: "Not Found",
	405: "Method Not Allowed",
	408: "Request Timeout",
	412: "Precondition Failed",
	413: "Content Too Large",
	414: "URI Too Long",
	416: "Range Not Satisfiable",
	421: "Misdirected Request",
	429: "Too Many Requests",
	500: "Internal Server Error",
	501: "Not Implemented",
	502: "Bad Gateway",
	503: "Service Unavailable",
	504: "Gateway Timeout",
}
