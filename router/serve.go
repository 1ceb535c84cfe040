package router

import (
	"net/http"
	"strings"
)

// ServeHTTP serves the request with the handler of the most specific pattern.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	d := r.registryOf().current()
	if r.Panic != nil || d.guards != nil || req.RequestURI == "*" {
		r.serveAround(w, req)
		return
	}
	r.serve(w, req, d)
}

// serveAround serves a request if there is a Panic or a guard, or if the request is for
// "*". It is a separate function because a deferred call costs every request time.
func (r *Router) serveAround(w http.ResponseWriter, req *http.Request) {
	if r.Panic != nil {
		defer r.rescue(w, req)
	}
	if req.RequestURI == "*" {
		r.serveAsterisk(w, req)
		return
	}
	if g := r.registryOf(); g.router.Load() == nil {
		g.router.Store(r)
	}
	r.serveFrom(w, req, 0)
}

// serve serves a request that has passed all guards.
func (r *Router) serve(w http.ResponseWriter, req *http.Request, d *dispatch) {
	s := scratchPool.Get().(*scratch)
	var f result
	if req.URL.RawPath == "" {
		d.lookup(&f, req, req.URL.Path, "", &s.params)
	}
	// A path with a match is clean unless a value is a segment of dots or several
	// segments: the literals of all patterns are clean.
	if f.found == nil || f.several || f.setValues(req, &s.values) {
		if r.respondCleaned(w, req, d, &f, &s.params) {
			scratchPool.Put(s)
			return
		}
		f.setValues(req, &s.values)
	}
	scratchPool.Put(s) // before the handler, which may take long and panic
	req.Pattern = f.found.Pattern
	to := &f.found.Value
	if to.plain != nil {
		to.plain.ServeHTTP(w, req)
		return
	}
	to.endpoint.serve(w, req, r.NotAcceptable)
}

// respondCleaned cleans the path of a request. f is the result for the original path,
// if that was not escaped, and becomes the result for the cleaned one. It reports
// whether it has sent a response itself, so that no handler is needed.
func (r *Router) respondCleaned(w http.ResponseWriter, req *http.Request, d *dispatch, f *result, p *Params) bool {
	t := targetOf(req)
	if t.rawPath != "" {
		d.lookup(f, req, "", t.rawPath, p)
	}
	if f.found != nil && !t.moved && !f.matchesWithSlash() {
		return false
	}
	req.Pattern = "" // of an outer router
	forgetPathValues(req)
	return r.respond(w, req, d, t, f)
}

// respond redirects or rejects a request, unless there is a handler for it.
func (r *Router) respond(w http.ResponseWriter, req *http.Request, d *dispatch, t target, f *result) bool {
	switch {
	case (t.moved || f.matchesWithSlash()) && d.redirect(w, req, t, f):
	case f.found == nil:
		r.respondNoRoute(w, req, d, t, f.allow)
	default:
		return false
	}
	return true
}

// redirect redirects to the path with a final slash, if a pattern with exactly these
// segments matches it, or to the cleaned path, if the client sent another one.
// Otherwise it returns false and has added the methods of the path with a slash to f.
func (d *dispatch) redirect(w http.ResponseWriter, req *http.Request, t target, f *result) bool {
	escaped := t.escaped()
	if f.matchesWithSlash() {
		var below result
		if d.findsSlash(&below, req, escaped) {
			req.Pattern = below.found.Pattern
			// the path of CONNECT is not clean yet
			redirectTo(w, req, cleanPath(escaped+"/"), http.StatusTemporaryRedirect)
			return true
		}
		f.allow |= below.allow
	}
	if !t.moved {
		return false
	}
	if f.found != nil {
		req.Pattern = f.found.Pattern
	}
	redirectTo(w, req, escaped, http.StatusTemporaryRedirect)
	return true
}

// redirectTo redirects to an escaped path with the request's query.
func redirectTo(w http.ResponseWriter, req *http.Request, path string, code int) {
	if req.URL.RawQuery != "" {
		path += "?" + req.URL.RawQuery
	}
	http.Redirect(w, req, path, code)
}

// respondNoRoute responds to a request without a matching pattern.
func (r *Router) respondNoRoute(w http.ResponseWriter, req *http.Request, d *dispatch, t target, allow methodSet) {
	switch {
	case allow != 0:
		w.Header().Set("Allow", d.allow(allow))
		r.respondNoMethod(w, req)
	case r.redirectMisspelt(w, req, d, t):
	case r.NotFound != nil:
		r.NotFound.ServeHTTP(w, req)
	default:
		http.NotFound(w, req)
	}
}

// respondNoMethod responds to a request with another method. Allow is set.
func (r *Router) respondNoMethod(w http.ResponseWriter, req *http.Request) {
	switch {
	case req.Method == http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
	case r.MethodNotAllowed != nil:
		r.MethodNotAllowed.ServeHTTP(w, req)
	default:
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
	}
}

// redirectMisspelt redirects to the path that the client probably meant, as far as
// RedirectSlash and RedirectCase allow, and reports whether there is one.
func (r *Router) redirectMisspelt(w http.ResponseWriter, req *http.Request, d *dispatch, t target) bool {
	if !r.RedirectSlash && !r.RedirectCase || req.Method == http.MethodConnect {
		return false
	}
	escaped := t.escaped()
	for _, path := range r.spellings(escaped) {
		if r.RedirectCase && path != "" && !d.takes(req, path) {
			path = d.folded().correct(req.Method, req.Host, path)
		}
		if path != "" && path != escaped && d.takes(req, path) {
			redirectTo(w, req, path, http.StatusPermanentRedirect)
			return true
		}
	}
	return false
}

// spellings returns the alternatives for a path without a match: the path itself, in
// case its letters have the wrong case, and the path with a slash added, as net/http
// would redirect if the case were right, or removed.
func (r *Router) spellings(path string) []string {
	switch short, slash := strings.CutSuffix(path, "/"); {
	case !slash:
		return []string{path, path + "/"}
	case r.RedirectSlash:
		return []string{path, short}
	}
	return []string{path}
}

// takes reports whether a pattern matches the request with another path.
func (d *dispatch) takes(req *http.Request, escaped string) bool {
	var f result
	d.lookup(&f, req, "", escaped, new(Params))
	return f.found != nil
}

// serveAsterisk responds to a request for the server as a whole, which only OPTIONS can
// be.
func (r *Router) serveAsterisk(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodOptions {
		w.Header().Set("Allow", r.registryOf().current().everyMethod())
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if req.ProtoAtLeast(1, 1) {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(http.StatusBadRequest)
}

// rescue passes a panic to the Router's Panic. It must be deferred.
func (r *Router) rescue(w http.ResponseWriter, req *http.Request) {
	switch value := recover(); value {
	case nil:
	case http.ErrAbortHandler:
		panic(value)
	default:
		r.Panic(w, req, value)
	}
}
