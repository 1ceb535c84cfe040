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
	f := search{params: p, host: req.Host}
	entry := t.program.find(&f, req.Method, "", clean)
	below, slashed := t.withSlash(&f, entry, req, clean)
	switch {
	case slashed >= 0 && !below.hasRest:
		req.Pattern = t.entries[slashed].Pattern
		return redirect(cleanPath(clean+"/"), req.URL.RawQuery) // CONNECT's is not clean yet
	case entry >= 0:
		req.Pattern = t.entries[entry].Pattern
	}
	if clean != escaped {
		return redirect(clean, req.URL.RawQuery)
	}
	if entry < 0 {
		return refusal(req.Method, t.program.allow(f.allow|below.allow))
	}
	for i := range p.Len() {
		req.SetPathValue(p.At(i))
	}
	return t.entries[entry].Value
}

// withSlash finds what the path with one more slash would, unless the path
// itself found a pattern of its very length.
func (t *Table[T]) withSlash(f *search, entry int32, req *http.Request, path string) (s search, slashed int32) {
	if !f.slashFit || entry >= 0 && !f.hasRest {
		return s, -1
	}
	s = search{params: new(Params), host: req.Host}
	return s, t.program.find(&s, req.Method, "", path+"/")
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
