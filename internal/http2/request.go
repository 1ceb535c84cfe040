package http2

import (
	"math"
	"strings"
	"unsafe"

	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Request is the head of a request. Its strings are valid until the stream is closed.
type Request struct {
	Method, Scheme, Authority, Path string

	// Fields are the other fields, in their order, except for Host. All cookie fields are
	// one (RFC 9113, section 8.2.3).
	Fields []hpack.HeaderField

	// Hosts are the values of Host fields. They may differ from Authority.
	Hosts []string

	// Length is the length of the body: 0 without one, and -1 if it is unknown.
	Length int64
}

func (r *Request) reset() {
	r.Method, r.Scheme, r.Authority, r.Path, r.Length = "", "", "", "", 0
	clear(r.Fields)
	clear(r.Hosts)
	r.Fields, r.Hosts = r.Fields[:0], r.Hosts[:0]
}

// read sets the request from the fields of a header block (RFC 9113, sections 8.2 and 8.3).
// It returns why the head is malformed, or "". cookies is memory for the joined cookies, and
// is returned.
func (r *Request) read(fields []hpack.HeaderField, ends bool, cookies []byte) (_ []byte, wrong string) {
	r.Length = -1
	if ends {
		r.Length = 0
	}
	pseudo, crumbs, length := true, 0, ""
	var seen pseudoFields
	for i := range fields {
		f := &fields[i]
		if f.IsPseudo() {
			if !pseudo {
				return cookies, "a pseudo-header field follows other fields"
			}
			if wrong := seen.set(r, f); wrong != "" {
				return cookies, wrong
			}
			continue
		}
		pseudo = false
		if wrong := checkField(f); wrong != "" {
			return cookies, wrong
		}
		switch f.Name {
		case "host":
			r.Hosts = append(r.Hosts, f.Value)
			continue
		case "cookie":
			if crumbs++; crumbs > 1 {
				continue
			}
		case "content-length":
			if length != "" {
				return cookies, "there are several content-length fields"
			}
			if length = f.Value; length == "" {
				return cookies, "the content-length is empty"
			}
			var ok bool
			if r.Length, ok = parseLength(f.Value); !ok || ends && r.Length != 0 {
				return cookies, "the content-length is not that of the body"
			}
		}
		r.Fields = append(r.Fields, *f)
	}
	if crumbs > 1 {
		cookies = r.joinCookies(fields, cookies)
	}
	return cookies, seen.check(r)
}

// joinCookies replaces the value of the only cookie field by that of all.
func (r *Request) joinCookies(fields []hpack.HeaderField, b []byte) []byte {
	b = b[:0]
	for i := range fields {
		if f := &fields[i]; f.Name == "cookie" {
			if len(b) > 0 {
				b = append(b, "; "...)
			}
			b = append(b, f.Value...)
		}
	}
	for i := range r.Fields {
		if r.Fields[i].Name == "cookie" {
			r.Fields[i].Value = unsafe.String(unsafe.SliceData(b), len(b))
		}
	}
	return b
}

// pseudoFields are the pseudo-header fields that a head has had.
type pseudoFields struct{ method, scheme, authority, path bool }

// set sets a pseudo-header field. It returns why it is malformed, or "".
func (p *pseudoFields) set(r *Request, f *hpack.HeaderField) (wrong string) {
	var seen *bool
	var value *string
	switch f.Name {
	case ":method":
		seen, value = &p.method, &r.Method
	case ":scheme":
		seen, value = &p.scheme, &r.Scheme
	case ":authority":
		seen, value = &p.authority, &r.Authority
	case ":path":
		seen, value = &p.path, &r.Path
	default:
		return "a pseudo-header field is unknown"
	}
	switch {
	case *seen:
		return "a pseudo-header field occurs twice"
	case !httpsyntax.IsPlain(f.Value) || strings.ContainsAny(f.Value, " \t"):
		return "a pseudo-header field has control characters or blanks"
	}
	*seen, *value = true, f.Value
	return ""
}

// check returns why the pseudo-header fields are not those of a request, or "".
func (p *pseudoFields) check(r *Request) (wrong string) {
	switch {
	case !p.method || !httpsyntax.IsToken(r.Method):
		return "the :method is missing or not valid"
	case r.Method == "CONNECT" && (p.scheme || p.path || r.Authority == ""):
		return "CONNECT needs an :authority and no :scheme and :path"
	case r.Method == "CONNECT":
		return ""
	case !p.scheme || r.Scheme == "":
		return "the :scheme is missing"
	case r.Path == "":
		return "the :path is missing or empty"
	case p.authority && r.Authority == "":
		return "the :authority is empty"
	case strings.IndexByte(r.Authority, '@') >= 0:
		return "the :authority has a user"
	}
	return ""
}

// checkField returns why a field is malformed in HTTP/2, or "".
func checkField(f *hpack.HeaderField) (wrong string) {
	switch {
	case !httpsyntax.IsToken(f.Name) || hasUpper(f.Name):
		return "the name of a field is not valid"
	case !httpsyntax.IsPlain(f.Value) || len(httpsyntax.TrimSpace(f.Value)) != len(f.Value):
		return "the value of a field is not valid"
	}
	switch f.Name {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		return "a field belongs to connections of HTTP/1"
	case "te":
		if !httpsyntax.EqualFold(f.Value, "trailers") {
			return "te has another value than trailers"
		}
	}
	return ""
}

func hasUpper(s string) bool {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return true
		}
	}
	return false
}

// parseLength parses a Content-Length.
func parseLength(s string) (n int64, ok bool) {
	for i := range len(s) {
		d := int64(s[i]) - '0'
		if d < 0 || d > 9 || n > (math.MaxInt64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, len(s) > 0
}
