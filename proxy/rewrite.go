package proxy

import (
	"cmp"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/weirhq/weir/internal/proxying"
)

// rewrite returns the request that p.Rewrite makes of r. Before, it removes what concerns only the client's
// connection: otherwise a client could name a field in Connection that Rewrite sets, so that it would not be sent.
// As in httputil.ReverseProxy, it also removes the parameters of the query that Rewrite could not see in URL.Query().
func (p *Proxy) rewrite(r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	for _, list := range r.Header["Connection"] {
		proxying.Elements(list, func(name string) bool {
			out.Header.Del(name)
			return true
		})
	}
	removeKept(out.Header)
	if out.ContentLength == 0 {
		out.Body = nil // as in httputil.ReverseProxy: hooks wrap only a body that exists
	}
	if query, err := url.ParseQuery(out.URL.RawQuery); err != nil {
		out.URL.RawQuery = query.Encode()
	}
	pr := &httputil.ProxyRequest{In: r, Out: out}
	if p.Rewrite(pr); pr.Out != out {
		out = replacement(r, pr.Out)
	}
	out.ContentLength = lengthOf(out)
	removeKept(out.Header)
	for name, values := range r.Header {
		if proxying.IsForwarding(name) || name == "Te" || name == "Upgrade" {
			out.Header[name] = values
		}
	}
	for _, list := range r.Header["Connection"] {
		proxying.Elements(list, func(option string) bool {
			if http.CanonicalHeaderKey(option) == "Upgrade" {
				out.Header["Connection"] = []string{"Upgrade"}
			}
			return true
		})
	}
	return out
}

// replacement returns a copy of the request that Rewrite has put in place of Out, which may be In or belong to somebody
// else. The facts about the client's connection are those of r.
func replacement(r, out *http.Request) *http.Request {
	out = out.Clone(out.Context())
	if out.Header == nil {
		out.Header = make(http.Header)
	}
	out.Method = cmp.Or(out.Method, http.MethodGet)
	out.Proto, out.ProtoMajor, out.ProtoMinor = r.Proto, r.ProtoMajor, r.ProtoMinor
	out.RemoteAddr, out.TLS, out.RequestURI = r.RemoteAddr, r.TLS, r.RequestURI
	return out
}

// lengthOf returns the length of the body of a request as net/http reads it in the request of a client: -1 if it is unknown.
func lengthOf(r *http.Request) int64 {
	switch {
	case r.Body == http.NoBody:
		return 0
	case r.Body != nil && r.ContentLength == 0:
		return -1
	}
	return r.ContentLength
}

// removeKept removes the fields of a request that Rewrite cannot change.
func removeKept(h http.Header) {
	for name := range h {
		if proxying.HopByHop(name) || proxying.IsForwarding(name) {
			delete(h, name)
		}
	}
}

// sendRewritten makes x the exchange of a rewritten request. Its client is that of r.
func sendRewritten(x *proxying.Exchange, r, out *http.Request) {
	x.Host, x.SendHost = r.Host, cmp.Or(out.Host, out.URL.Host)
	if out.Body == r.Body {
		x.Trailers = func(dst []proxying.Field) []proxying.Field { return appendFields(dst, r.Trailer) }
	}
}
