package router

import (
	"fmt"
	"net/http"
	"runtime"
)

// A Route is one registration, as [Router.Walk] shows it.
type Route struct {
	Pattern string // whole, with the prefixes of its groups
	Name    string // "": it has none
	Accept  string // the media type that requests have to ask for, "": any
}

// A route is a Route and what serves it. It does not change.
type route struct {
	Route
	handler http.Handler // with the middleware around it
	media   *mediaType   // of Accept, nil for none
	pattern *pattern     // of a route with a name
	site    callSite
}

// A place is where a route was registered, as a program counter, since most
// are never shown.
type callSite uintptr

// callerPlace returns the place of the call that lies skip functions above
// the one that calls it.
func callerSite(skip int) callSite {
	var pcs [1]uintptr
	runtime.Callers(skip+2, pcs[:])
	return callSite(pcs[0])
}

// String returns file:line.
func (p callSite) String() string {
	frame, _ := runtime.CallersFrames([]uintptr{uintptr(p)}).Next()
	if frame.File == "" {
		return "an unknown place"
	}
	return fmt.Sprintf("%s:%d", frame.File, frame.Line)
}

// An endpoint is what serves one pattern. It does not change.
type endpoint struct {
	routes []*route // one, or one for each media type, in the order of registration
}

func (e *endpoint) pattern() string { return e.routes[0].Pattern }

// serve answers by the route whose media type suits the request, or as
// notAcceptable does, which may be nil.
func (e *endpoint) serve(w http.ResponseWriter, req *http.Request, notAcceptable http.Handler) {
	w.Header().Add("Vary", "Accept")
	if r := choose(e.routes, req.Header["Accept"]); r != nil {
		r.handler.ServeHTTP(w, req)
		return
	}
	if notAcceptable != nil {
		notAcceptable.ServeHTTP(w, req)
		return
	}
	http.Error(w, http.StatusText(http.StatusNotAcceptable), http.StatusNotAcceptable)
}

// choose returns the route for a request with the given Accept headers, nil
// when none is acceptable.
func choose(routes []*route, accept []string) *route {
	var few [8]mediaMatch
	fits := few[:]
	if len(routes) > len(few) {
		fits = make([]mediaMatch, len(routes))
	}
	n := 0
	for _, list := range accept {
		for list != "" {
			var element string
			element, list, _ = cutUnquoted(list, ',')
			mr, ok := parseMediaRange(element)
			if !ok {
				continue // an element that cannot be read says nothing
			}
			n++
			for i, r := range routes {
				fits[i].improve(mr, r.media, n)
			}
		}
	}
	if n == 0 {
		return fallback(routes)
	}
	return best(routes, fits)
}

// fallback returns the route without a media type, else the first.
func fallback(routes []*route) *route {
	for _, r := range routes {
		if r.media == nil {
			return r
		}
	}
	return routes[0]
}

// best returns the route with the highest q, among several that whose range
// comes first, among several of one range the one without a media type. That
// one also takes what nothing else does, unless a range excludes it.
func best(routes []*route, fits []mediaMatch) *route {
	var found *route
	var at mediaMatch
	for i, r := range routes {
		f := fits[i]
		switch {
		case f.q > at.q, f.q == at.q && f.q > 0 && (f.position < at.position || f.position == at.position && r.media == nil):
			found, at = r, f
		case found == nil && r.media == nil && f.precision == 0:
			found = r // until one fits
		}
	}
	return found
}
