package response

import (
	"strings"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Field is one header field. Its strings are valid until the next [Reader.Reset].
type Field struct {
	Name, Value string
}

// knownNames maps a field name, as servers commonly write it, to its canonical
// form. These names can be compared and looked up in one spelling, without an
// allocation. Other names are passed on as received.
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

// framingNames are the fields that determine the end of a response or the hop
// that it is for. They are recognised in any spelling, so that none of them
// escapes its rules.
var framingNames = []string{
	"Connection", "Content-Length", "Content-Type", "Date", "Keep-Alive", "Proxy-Connection",
	"Trailer", "Transfer-Encoding", "Upgrade", "X-Request-Id",
}

func fieldName(b []byte) string {
	if name, ok := knownNames[string(b)]; ok {
		return name
	}
	s := httpsyntax.View(b)
	for _, name := range framingNames {
		if httpsyntax.EqualFold(s, name) {
			return name
		}
	}
	return s
}

// keepFields copies the section of b to memory that is valid until the next
// reset, and appends its fields, which are views into that.
func (r *Reader) keepFields(dst []Field, b []byte) []Field {
	start := len(r.kept)
	r.kept = append(r.kept, b...)
	kept := r.kept[start:]
	for i := range r.spans.Len() {
		f := r.spans.At(i)
		dst = append(dst, Field{Name: fieldName(f.Name.Of(kept)), Value: httpsyntax.View(f.Value.Of(kept))})
	}
	return dst
}

// keepStreamFields copies fields to memory that is valid until the next reset, and appends them.
func (r *Reader) keepStreamFields(dst []Field, fields []http2.Field) []Field {
	start := len(r.kept)
	for i := range fields {
		r.kept = append(append(r.kept, fields[i].Name...), fields[i].Value...)
	}
	kept := r.kept[start:]
	for i := range fields {
		name, value := kept[:len(fields[i].Name)], kept[len(fields[i].Name):][:len(fields[i].Value)]
		dst = append(dst, Field{Name: fieldName(name), Value: httpsyntax.View(value)})
		kept = kept[len(name)+len(value):]
	}
	return dst
}

// keepEmpty empties a list of fields for reuse.
func keepEmpty(fields []Field) []Field {
	if cap(fields) > 256 {
		return nil
	}
	clear(fields[:cap(fields)])
	return fields[:0]
}
