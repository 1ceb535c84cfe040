package httplog

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
)

// TraceID returns the trace id of the request that a context belongs to, so
// that a handler can send it on, as X-Request-Id. It is empty for a context
// that does not come from [Middleware].
//
// The id is the trace-id of a valid traceparent (W3C Trace Context, version
// 00); else an X-Request-Id of up to 128 visible characters of ASCII without
// quotes, commas and backslashes; else 16 random letters. A header that is
// there twice counts as invalid.
func TraceID(ctx context.Context) string {
	if c, ok := ctx.Value(traceKey{}).(*traceContext); ok {
		return c.id
	}
	return ""
}

type traceKey struct{}

// A traceContext carries a trace id. It is one allocation, where
// context.WithValue needs two for a string.
type traceContext struct {
	context.Context
	id string
}

// Value implements context.Context.
func (c *traceContext) Value(key any) any {
	if key == (traceKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// traceID returns the id of a request, a new one where it has none. See
// TraceID for the rule, which is that of the front door.
func traceID(header http.Header) string {
	if parent := only(header, "Traceparent"); validTraceParent(parent) {
		return parent[3:35]
	}
	if id := only(header, "X-Request-Id"); plainID(id) {
		return id
	}
	return newTraceID()
}

// only returns the value of a field that is there once, else "". name is in
// canonical form.
func only(header http.Header, name string) string {
	if values := header[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

const maxRequestID = 128

// plainID accepts what can stand in a header, a log and a shell without
// surprises.
func plainID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"',\`, c) >= 0 {
			return false
		}
	}
	return true
}

// validTraceParent checks 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.
// Of a later version, what follows these 55 bytes is not known here and makes
// it invalid.
func validTraceParent(s string) bool {
	if len(s) != 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return false
	}
	version, trace, parent, flags := s[:2], s[3:35], s[36:52], s[53:]
	return lowerHex(version) && lowerHex(trace) && lowerHex(parent) && lowerHex(flags) &&
		version != "ff" && strings.Trim(trace, "0") != "" && strings.Trim(parent, "0") != ""
}

func lowerHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

const (
	idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	idLength  = 16
)

// newTraceID returns random letters: 91 bits, which nobody needs to be unable
// to guess.
func newTraceID() string {
	var id [idLength]byte
	for i := range id {
		id[i] = idLetters[rand.IntN(len(idLetters))]
	}
	return string(id[:])
}
