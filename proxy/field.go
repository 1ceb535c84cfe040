package proxy

import (
	"strings"
	"unsafe"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Field is one header field. Names compare without regard to case.
type Field struct {
	Name, Value string
}

// knownNames maps a field's name, as servers commonly write it, to its
// canonical form. Whoever compares or looks up these names finds one spelling,
// and a name costs no allocation; any other name is passed on as it came.
var knownNames = func() map[string]string {
	m := make(map[string]string)
	for _, name := range []string{
		"Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
		"Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
		"Access-Control-Max-Age", "Age", "Allow", "Alt-Svc", "Cache-Control", "Connection",
		"Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length",
		"Content-Location", "Content-Range", "Content-Security-Policy", "Content-Type", "Date", "Etag",
		"Expires", "Keep-Alive", "Last-Modified", "Link", "Location", "Pragma", "Proxy-Authenticate",
		"Proxy-Connection", "Referrer-Policy", "Retry-After", "Server", "Server-Timing", "Set-Cookie",
		"Strict-Transport-Security", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Vary", "Via",
		"Www-Authenticate", "X-Content-Type-Options", "X-Frame-Options", "X-Powered-By", "X-Request-Id",
	} {
		m[name] = name
		m[strings.ToLower(name)] = name
	}
	m["ETag"] = "Etag"
	m["WWW-Authenticate"] = "Www-Authenticate"
	m["TE"] = "Te"
	return m
}()

// framingNames are the names that decide where an answer ends or who sees it:
// found in any spelling, since a name that is passed on in a spelling of its
// own would escape the rules for them.
var framingNames = []string{
	"Connection", "Content-Length", "Content-Type", "Date", "Keep-Alive", "Proxy-Connection",
	"Trailer", "Transfer-Encoding", "Upgrade", "X-Request-Id",
}

func fieldName(b []byte) string {
	if name, ok := knownNames[string(b)]; ok {
		return name
	}
	s := view(b)
	for _, name := range framingNames {
		if httpsyntax.EqualFold(s, name) {
			return name
		}
	}
	return s
}

// elements calls f with each element of a comma-separated list, without the
// space around it; it stops when f returns false.
func elements(list string, f func(string) bool) {
	for list != "" {
		e, after, _ := strings.Cut(list, ",")
		list = after
		if e = strings.Trim(e, " \t"); e != "" && !f(e) {
			return
		}
	}
}

// maxOptions bounds how many names Connection may list. Each field is compared
// with each of them, so a head full of both would cost its length squared.
const maxOptions = 64

// countElements counts the elements of a list, the empty ones included.
func countElements(list string) int { return 1 + strings.Count(list, ",") }

// lists tells whether a comma-separated list holds the token.
func lists(list, token string) bool {
	found := false
	elements(list, func(e string) bool {
		found = httpsyntax.EqualFold(e, token)
		return !found
	})
	return found
}

// hopByHop tells whether a field is for the next hop alone, RFC 9110 section
// 7.6.1. Te and Trailer are, too, and are written anew where they apply.
func hopByHop(name string) bool {
	switch len(name) {
	case 2:
		return httpsyntax.EqualFold(name, "Te")
	case 7:
		return httpsyntax.EqualFold(name, "Upgrade") || httpsyntax.EqualFold(name, "Trailer")
	case 10:
		return httpsyntax.EqualFold(name, "Connection") || httpsyntax.EqualFold(name, "Keep-Alive")
	case 16:
		return httpsyntax.EqualFold(name, "Proxy-Connection")
	case 17:
		return httpsyntax.EqualFold(name, "Transfer-Encoding")
	case 18:
		return httpsyntax.EqualFold(name, "Proxy-Authenticate")
	case 19:
		return httpsyntax.EqualFold(name, "Proxy-Authorization")
	}
	return false
}

func has(fields []Field, name string) bool {
	for i := range fields {
		if httpsyntax.EqualFold(fields[i].Name, name) {
			return true
		}
	}
	return false
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if httpsyntax.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// view returns b as a string without copying it. The string changes when b
// does, so it lives no longer than what owns b: see Client.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// bufferCeiling is the capacity above which a buffer is not kept for the next
// exchange.
const bufferCeiling = 64 << 10

// keep empties a list of fields for its next use.
func keep(fields []Field) []Field {
	if cap(fields) > 256 {
		return nil
	}
	clear(fields[:cap(fields)])
	return fields[:0]
}

func keepBytes(b []byte) []byte {
	if cap(b) > bufferCeiling {
		return nil
	}
	return b[:0]
}
