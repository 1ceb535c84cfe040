package wire

import (
	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
)

// read sets the request from the head of HTTP/1 at the beginning of an input, but not the body. The
// strings are views of the input.
func (x *Exchange) read(in *input, scheme string) {
	h, buf := &in.parser.Head, in.buf
	x.Method, x.Host, x.Scheme = httpsyntax.View(h.Method.Of(buf)), httpsyntax.View(h.Host.Of(buf)), scheme
	x.Target = httpsyntax.View(h.Target.Of(buf))
	if h.Form == http1.AbsoluteForm {
		if string(h.Scheme.Of(buf)) != x.Scheme {
			x.Ambiguity = "the target has another scheme than the connection"
		}
		if x.Target = httpsyntax.View(h.Path.Of(buf)); x.Target == "" || x.Target[0] != '/' {
			x.Target = "/" + x.Target
		}
	}
	x.HTTP10 = h.HTTP10
	for i := range in.fields.Len() {
		f := in.fields.At(i)
		if name := httpsyntax.View(f.Name.Of(buf)); !httpsyntax.EqualFold(name, "Host") {
			x.Header = append(x.Header, proxying.Field{Name: name, Value: httpsyntax.View(f.Value.Of(buf))})
		}
	}
	switch h.Framing {
	case http1.BodyLength:
		x.Length = h.Length
	case http1.BodyChunked:
		x.Length = -1
	}
}
