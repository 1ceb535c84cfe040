// Package tracematch decides which events belong to one request by their trace ids. Services log the id of a front door
// in either of two forms: as it is, or as the trace-id of a traceparent.
package tracematch

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"strings"

	"github.com/weirhq/weir/log/traceid"
)

// ShownID is the number of characters of a trace id in human form. As many identify an event.
const ShownID = 8

// An ID is a trace id that is searched, or its first characters.
type ID struct {
	text string
	hex  string // the beginning of w3c, if text is the beginning of an id of 16 bytes
	w3c  string // the trace-id of a traceparent that a front door makes of text
}

// Parse returns the ID of a trace id, its first characters, or a traceparent. It reports false if the text is none.
func Parse(text string) (ID, bool) {
	id := cmp.Or(traceid.OfParent(text), text)
	return Of(id), traceid.Plain(id)
}

// Of returns the ID of the trace id of an event.
func Of(traceID string) ID {
	return ID{text: traceID, hex: hex.EncodeToString([]byte(traceID)), w3c: w3c(traceID)}
}

func w3c(id string) string { return string(traceid.AppendW3C(nil, id)) }

// String returns the trace id, or its first characters.
func (id ID) String() string { return id.text }

// Has reports whether an event has the wanted trace id, or one with the same first characters, in either form.
func (id ID) Has(traceID string) bool {
	if traceID == "" {
		return false
	}
	if len(id.text) < ShownID {
		return id.Is(traceID)
	}
	made := w3c(traceID)
	return made == id.w3c || strings.HasPrefix(traceID, id.text) || strings.HasPrefix(made, id.text) ||
		strings.HasPrefix(made, id.hex)
}

// Is reports whether a trace id is the wanted one, or its form in a traceparent, which services log that take their trace
// ids from there.
func (id ID) Is(traceID string) bool { return traceID == id.text || w3c(traceID) == id.w3c }

// Same reports whether two trace ids are of one request.
func Same(a, b string) bool { return w3c(a) == w3c(b) }

// In reports whether a text contains the trace id in one of its forms. It is a fast test before an event is parsed.
func (id ID) In(text []byte) bool {
	return bytes.Contains(text, []byte(id.text)) || bytes.Contains(text, []byte(id.w3c))
}
