package router

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

// paramsPool keeps the scratch space of requests.
var paramsPool = sync.Pool{New: func() any { return new(Params) }}

// ServeHTTP answers the request by the handler of the best pattern.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.RequestURI == "*" {
		if req.ProtoAtLeast(1, 1) {
			w.Header().Set("Connection", "close")
		}
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.route(req).ServeHTTP(w, req)
}

// route returns the handler for a request and tells the request its pattern.
func (r *Router) route(req *http.Request) http.Handler {
	t := r.table()
	escaped := req.URL.EscapedPath()
	clean := escaped
	if req.Method != http.MethodConnect {
		clean = cleanPath(escaped)
	}
	p := paramsPool.Get().(*Params)
	defer func() {
		p.Release()
		paramsPool.Put(p)
	}()
	f := t.tree.find(req.Method, req.Host, clean, p)
	below := t.tree.withSlash(f, req, clean)
	switch {
	case below.pattern != nil && !below.hasRest:
		req.Pattern = below.pattern.text
		return redirect(cleanPath(clean+"/"), req.URL.RawQuery) // CONNECT's is not clean yet
	case f.pattern != nil:
		req.Pattern = f.pattern.text
	}
	if clean != escaped {
		return redirect(clean, req.URL.RawQuery)
	}
	if f.pattern == nil {
		return refusal(req.Method, t.tree.allowHeader(f.allow|below.allow))
	}
	for i := range p.Len() {
		req.SetPathValue(p.At(i))
	}
	return t.entries[f.pattern.entry].Value
}

// withSlash finds what the path with one more slash would, unless the path
// itself found a pattern of its very length.
func (t *tree) withSlash(f finding, req *http.Request, path string) finding {
	if !f.slashFit || f.pattern != nil && !f.hasRest {
		return finding{}
	}
	return t.find(req.Method, req.Host, path+"/", new(Params))
}

// redirect returns a handler that sends the client to an escaped path with
// the request's query.
func redirect(path, query string) http.Handler {
	if query != "" {
		path += "?" + query
	}
	return http.RedirectHandler(path, http.StatusTemporaryRedirect)
}

// refusal returns the handler for a request that no pattern takes.
func refusal(method, allow string) http.Handler {
	if allow == "" {
		return http.NotFoundHandler()
	}
	allow = withOptions(allow)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		if method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
	})
}

// withOptions adds OPTIONS, which a Router answers itself, to a list of methods.
func withOptions(allow string) string {
	list := strings.Split(allow, ", ")
	if i, found := slices.BinarySearch(list, http.MethodOptions); !found {
		list = slices.Insert(list, i, http.MethodOptions)
	}
	return strings.Join(list, ", ")
}

// cleanPath returns the shortest path that means the same as an escaped path,
// as http.ServeMux does: without //, . and .., with the slash at the end kept.
func cleanPath(p string) string {
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	clean := path.Clean(p)
	if p[len(p)-1] == '/' && clean != "/" {
		if len(p) == len(clean)+1 && p[:len(clean)] == clean {
			return p // already clean, and not worth a copy
		}
		clean += "/"
	}
	return clean
}
