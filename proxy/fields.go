package proxy

import (
	"net/http"
	"strings"

	"github.com/weirhq/weir/internal/proxying"
)

// appendFields appends the fields of a header.
func appendFields(dst []proxying.Field, h http.Header) []proxying.Field {
	for name, values := range h {
		for _, value := range values {
			dst = append(dst, proxying.Field{Name: name, Value: value})
		}
	}
	return dst
}

// trailerNames returns the value of the field Trailer for a trailer.
func trailerNames(trailer http.Header) string {
	var names []string
	for name := range trailer {
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
