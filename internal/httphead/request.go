package httphead

import (
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Request is the head of a request over HTTP/2 or HTTP/3. It uses the strings of the fields that were read.
type Request struct {
	Method, Scheme, Path string

	// Authority is the :authority, or the Host if there is none.
	Authority string

	// Fields are the other fields, in their order, except for Host. All cookie fields are
	// one (RFC 9113, section 8.2.3).
	Fields []hpack.HeaderField

	// Length is the length of the body: 0 without one, and -1 if it is unknown.
	Length int64

	// Continue reports that the client waits for a 100 response (Expect: 100-continue).
	Continue bool

	host   string
	hosted bool // there is a Host
}

// Reset makes the request ready for another head.
func (r *Request) Reset() {
	clear(r.Fields)
	*r = Request{Fields: r.Fields[:0]}
}

// Read sets the request from its fields (RFC 9113, sections 8.2 and 8.3; RFC 9114, sections 4.2
// and 4.3), and reports why it is rejected. ends reports that the stream ends with the head.
// cookies is memory for the joined cookies, and is returned.
func (r *Request) Read(fields []hpack.HeaderField, ends bool, cookies []byte) ([]byte, Fault) {
	r.Length = -1
	var seen pseudoFields
	pseudo, crumbs, length := true, 0, false
	for i := range fields {
		f := &fields[i]
		if f.IsPseudo() {
			if !pseudo {
				return cookies, Malformed("a pseudo-header field follows other fields")
			}
			if wrong := seen.set(r, f); wrong != "" {
				return cookies, Malformed(wrong)
			}
			continue
		}
		pseudo = false
		fault := Fault{}
		if wrong := CheckField(f); wrong != "" {
			return cookies, Malformed(wrong)
		}
		switch f.Name {
		case "host":
			if r.hosted {
				return cookies, Malformed(TwoHosts)
			}
			r.host, r.hosted = f.Value, true
			continue
		case "cookie":
			if crumbs++; crumbs > 1 {
				continue
			}
		case "content-length":
			var wrong string
			if r.Length, wrong = Length(f.Value, length); wrong != "" {
				return cookies, Malformed(wrong)
			}
			length = true
		case "expect":
			fault = Expect(f.Value, r.Continue)
			r.Continue = true
		case "trailer":
			if !MayAnnounce(f.Value) {
				fault = Malformed(BadTrailer)
			}
		}
		if fault != (Fault{}) {
			return cookies, fault
		}
		r.Fields = append(r.Fields, *f)
	}
	if crumbs > 1 {
		cookies = r.joinCookies(fields, cookies)
	}
	return cookies, r.end(&seen, ends)
}

// end checks the pseudo-header fields of a head, and the length if the stream ends with it.
func (r *Request) end(seen *pseudoFields, ends bool) Fault {
	switch wrong := seen.check(r); {
	case wrong != "":
		return Malformed(wrong)
	case ends && r.Length > 0:
		return Malformed("the content-length is not the length of the body")
	case ends:
		r.Length = 0
	}
	return Fault{}
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
			r.Fields[i].Value = httpsyntax.View(b)
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

// check returns why the pseudo-header fields are not those of a request, or "". The target must be one that HTTP/1 can
// have, because the upstream may get it so.
func (p *pseudoFields) check(r *Request) (wrong string) {
	connect := r.Method == "CONNECT"
	switch {
	case !p.method || !httpsyntax.IsToken(r.Method):
		return "the :method is missing or not valid"
	case connect && (p.scheme || p.path || !p.authority):
		return "CONNECT needs an :authority and no :scheme and :path"
	case !connect && r.Scheme != "http" && r.Scheme != "https":
		return "the :scheme is neither http nor https"
	case !connect && (r.Path == "" || r.Path[0] != '/' && r.Path != "*"):
		return "the :path is not a path"
	case !p.authority && !r.hosted:
		return NoHost
	case !p.authority:
		r.Authority = r.host
	}
	switch {
	case !ValidHost(r.Authority):
		return BadHost
	case r.hosted && !SameHost(r.host, r.Authority, r.Scheme):
		return OtherHost
	}
	return ""
}

// CheckField returns why a field is malformed in HTTP/2 and HTTP/3, or "".
func CheckField(f *hpack.HeaderField) (wrong string) {
	switch {
	case !httpsyntax.IsToken(f.Name) || httpsyntax.HasUpper(f.Name):
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

// CheckTrailer returns why a field is no valid trailer of a request, or "".
func CheckTrailer(f *hpack.HeaderField) (wrong string) {
	if f.IsPseudo() || OnlyInHead(f.Name) {
		return BadTrailer
	}
	return CheckField(f)
}
