package router

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Guard wraps every request for the prefix of v or a path below it in middleware. This
// includes all handlers, wherever they were registered, and the Router's own responses:
// redirects, 404, 405, 406 and responses to OPTIONS. Unlike the middleware of
// [Routes.With], it runs before the lookup, without a pattern and values, and is built
// once. The first middleware sees a request first, and earlier guards see it before
// later ones. Guard panics without a prefix: middleware for all requests belongs around
// the Router.
func (v *Routes) Guard(middleware ...func(http.Handler) http.Handler) {
	at := callerSite(1)
	prefix := v.host + v.path
	if prefix == "" {
		panic(registerErrorf("the guard given at %s has no prefix; put it around the Router", at))
	}
	if err := v.registryOf().guard(prefix, middleware); err != nil {
		panic(registerErrorf("guard of %q (given at %s): %v", prefix, at, err))
	}
}

// guard adds a guard, or returns an error and adds nothing.
func (g *registry) guard(prefix string, middleware []func(http.Handler) http.Handler) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	entries := []Entry[struct{}]{{Pattern: prefix + "/"}}
	if strings.Contains(prefix, "/") {
		entries = append(entries, Entry[struct{}]{Pattern: prefix})
	}
	table, err := NewTable(g.constraints, entries)
	if err != nil {
		return err
	}
	next := len(g.guards) + 1
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		g.router.Load().serveFrom(w, req, next)
	})
	for _, mw := range slices.Backward(middleware) {
		if mw == nil {
			return errors.New("a middleware is nil")
		}
		if h = mw(h); h == nil {
			return errors.New("a middleware returned no handler")
		}
	}
	g.guards = append(g.guards, guard{table, h})
	g.serving.Store(nil)
	return nil
}

// serveFrom serves a request that has passed the guards before the given index.
func (r *Router) serveFrom(w http.ResponseWriter, req *http.Request, index int) {
	d := r.registryOf().current()
	if i := d.guardOf(req, index); i < len(d.guards) {
		d.guards[i].handler.ServeHTTP(w, req)
		return
	}
	r.serve(w, req, d)
}
