package router

import (
	"fmt"
	"net/http"
)

// A Router serves each request with the handler of the most specific pattern. It cleans
// paths and redirects as http.ServeMux does, and responds with 404, with 405 and Allow,
// and to OPTIONS with Allow unless a pattern takes it. It sets Request.Pattern and
// Request.PathValue.
//
// The zero Router is ready and strict: a path has one spelling. Set its fields before
// it serves. Registering and serving may happen at the same time: a request sees the
// patterns registered before it arrived. Requests take no lock; the first one after a
// registration compiles the patterns again. Middleware for all requests, including
// requests without a match, wraps the Router, which is an http.Handler. Do not copy a
// Router after its first use.
type Router struct {
	// Routes registers handlers at the root: r.Handle, r.Group and so on.
	Routes

	// NotFound responds if no pattern matches. If it is nil, the response is as from
	// net/http.
	NotFound http.Handler

	// MethodNotAllowed responds if patterns match the path but not the method. If it is
	// nil, the response is as from net/http. Allow is already set.
	MethodNotAllowed http.Handler

	// NotAcceptable responds if the pattern has routes for media types, but none that
	// the request accepts. If it is nil, the response is a plain 406. It runs before
	// the routes' middleware. Vary is already set.
	NotAcceptable http.Handler

	// Panic is called with the value of a handler's panic. If it is nil, panics
	// propagate, as http.ErrAbortHandler always does. Bytes that the handler has
	// written stay written.
	Panic func(w http.ResponseWriter, req *http.Request, value any)

	// RedirectSlash redirects with 308 a path without a match that would match without
	// its final slash. The reverse, from /tree to a pattern /tree/, is a redirect of
	// net/http and always on.
	RedirectSlash bool

	// RedirectCase redirects with 308 a path without a match that would match if ASCII
	// letters outside of parameters had the other case. Values keep their case, and
	// constraints see them unchanged.
	RedirectCase bool
}

// New returns a Router without routes, like new(Router).
func New() *Router { return new(Router) }

// Constrain makes c available as {id:name} to the patterns registered from now on. It
// panics if the name is taken, by an earlier Constrain or a pattern with the built-in
// constraint of that name, and if patterns cannot contain the name.
func (r *Router) Constrain(name string, c Constraint) {
	r.registryOf().constrain(name, c, callerSite(1))
}

// String draws the tree of all patterns, as [Table.String] does.
func (r *Router) String() string { return r.registryOf().current().table.String() }

// Walk calls visit for every route in the order of registration. It stops at the first
// error and returns it. Routes registered during the walk are not visited.
func (r *Router) Walk(visit func(Route) error) error {
	for _, route := range r.registryOf().all() {
		if err := visit(route.Route); err != nil {
			return err
		}
	}
	return nil
}

// URL returns the path of a named route with values for its parameters, given as
// alternating names and values: URL("user", "id", "42"). It escapes the values; values
// of {rest...} have slashes between segments. The URL of a route with a host begins
// with it: "//example.com/users/42".
//
// URL returns an error unless every parameter has one value that its constraint
// accepts, and unless a request for the URL, with the route's first method or GET,
// reaches this route with these values. Next to /users/me the route /users/{id} has no
// URL for "me", and no route has one for "", "." or "..".
func (r *Router) URL(name string, nameValuePairs ...string) (string, error) {
	d := r.registryOf().current()
	route, ok := d.named[name]
	if !ok {
		return "", d.unknownRoute(name)
	}
	url, err := d.url(route, nameValuePairs)
	if err != nil {
		return "", fmt.Errorf("route %q, %s: %w", name, route.Pattern, err)
	}
	return url, nil
}

// Match returns the route that would serve the request. ok is false if the Router
// itself would respond: with a redirect, 404, 405 or 406, or to OPTIONS. Match runs no
// handler and no middleware and does not change the request.
func (r *Router) Match(req *http.Request) (route Route, ok bool) {
	var f result
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
