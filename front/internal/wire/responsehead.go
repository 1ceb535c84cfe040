package wire

import (
	"net/http"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
)

// A responseHead is the part of the encoding of a final response's head that does not depend on
// the version of HTTP.
type responseHead struct {
	status       int
	dated, sized bool // there is a Date, and a Content-Length
}

// passes reports whether the client gets a field.
func (h *responseHead) passes(f *proxying.Field) bool {
	switch len(f.Name) {
	case len("Date"):
		h.dated = h.dated || httpsyntax.EqualFold(f.Name, "Date")
	case len("Content-Type"):
		return h.status != http.StatusNotModified || !httpsyntax.EqualFold(f.Name, "Content-Type")
	case len("Content-Length"):
		if httpsyntax.EqualFold(f.Name, "Content-Length") {
			h.sized = true
			return h.status != http.StatusNotModified && h.status != http.StatusNoContent
		}
	}
	return true
}

// bodyOf returns the framing of the body of a response to a request with a method. length is -1
// if it is unknown.
func bodyOf(method string, status int, length int64) responseBody {
	switch {
	case method == http.MethodHead || status == http.StatusNoContent || status == http.StatusNotModified:
		return noBody
	case length >= 0:
		return sizedBody
	}
	return chunkedBody
}
