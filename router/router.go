package router

import (
	"fmt"
	"net/http"
)

// A Router serves each request with the handler whose pattern matches it
// best. It cleans paths and redirects as http.ServeMux does, answers 404, 405
// with Allow, and OPTIONS with Allow unless a pattern takes it, and sets
// Request.Pattern and Request.PathValue.
//
// The zero Router is ready and strict: a path has one spelling. Its fields are
// set before it serves. Registering and serving may go on at the same time: a
// request sees the patterns registered before it came. Requests take no lock;
// the first one after a registration compiles the patterns anew. Middleware
// for every request, those that find nothing included, is put around the
// Router, which is an http.Handler. A Router is not copied once it is used.
type Router struct {
	// Routes registers handlers at the root: r.Handle, r.Group and so on.
	Routes

	// NotFound answers what no pattern matches, nil as net/http does.
	NotFound http.Handler

	// MethodNotAllowed answers when patterns match the path, but none the
	// method, nil as net/http does. Allow is set before it runs.
	MethodNotAllowed http.Handler

	// NotAcceptable answers when the pattern has routes for media types and
	// none that the request accepts, nil as net/http would. It runs in front
	// of the routes' middleware. Vary is set before it runs.
	NotAcceptable http.Handler

	// Panic answers for a handler that panicked with a value. When it is nil
	// panics pass through, as http.ErrAbortHandler always does. What the
	// handler has written so far is written.
	Panic func(w http.ResponseWriter, req *http.Request, value any)

	// RedirectSlash redirects, by 308, a path that finds nothing, but would
	// without the slash at its end. The reverse, from /tree to a pattern
	// /tree/, is net/http's own redirect and needs no wish.
	RedirectSlash bool

	// RedirectCase redirects, by 308, a path that finds nothing, but would if
	// ASCII letters outside the parameters were of the other case. Values
	// keep their case, and constraints are asked about them as they are.
	RedirectCase bool
}

// New returns a Router without routes, as new(Router) does.
func New() *Router { return new(Router) }

// Constrain makes c available to the patterns registered from now on, as
// {id:name}. It panics when the name was given before, be it by Constrain or
// by a pattern that used the built-in constraint of that name, and when no
// pattern can hold it.
func (r *Router) Constrain(name string, c Constraint) {
	r.registryOf().constrain(name, c, callerSite(1))
}

// String draws the tree of all patterns, as [Table.String] does.
func (r *Router) String() string { return r.registryOf().current().table.String() }

// Walk calls visit for every route in the order of registration, until it
// returns an error, which is then returned. Routes registered meanwhile are
// not visited.
func (r *Router) Walk(visit func(Route) error) error {
	for _, route := range r.registryOf().all() {
		if err := visit(route.Route); err != nil {
			return err
		}
	}
	return nil
}

// URL returns the path of a named route with values for its parameters, given
// as name and value in turn: URL("user", "id", "42"). The values are escaped;
// those of {rest...} hold slashes between segments. The URL of a route with a
// host begins with it: "//example.com/users/42".
//
// URL returns an error unless every parameter has one value that its constraint
// accepts, and unless the Router reads the URL as it was made: a request for
// it, by the route's first method or GET, reaches this route with these
// values. Beside /users/me the route /users/{id} has no URL for "me", and no
// route has one for "", "." or "..".
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

// Match returns the route that would serve the request. ok is false when the
// Router itself would respond: by a redirect, 404, 405, 406, or to OPTIONS.
// Match runs no handler and no middleware and leaves the request as it is.
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
