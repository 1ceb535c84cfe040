package router

import "net/http"

// Match returns the route that would serve the request. ok is false when the
// Router itself would respond: by a redirect, 404, 405, 406, or to OPTIONS.
// Match runs no handler and no middleware and leaves the request as it is.
func (r *Router) Match(req *http.Request) (route Route, ok bool) {
	var f answer
	e := r.registryOf().current().match(&f, req)
	if e == nil {
		return Route{}, false
	}
	chosen := choose(e.routes, req.Header["Accept"])
	if chosen == nil {
		return Route{}, false
	}
	return chosen.Route, true
}

// match returns the endpoint for a request and leaves its values in f. It
// returns nil when no pattern matches and when the Router would redirect.
func (d *dispatch) match(f *answer, req *http.Request) *endpoint {
	if req.RequestURI == "*" {
		return nil
	}
	t := targetOf(req)
	d.lookup(f, req, t.path, t.rawPath, new(Params))
	if f.found == nil || t.moved || f.fitsWithSlash() && d.findsSlash(new(answer), req, t.escaped()) {
		return nil
	}
	return f.found.Value.endpoint
}
