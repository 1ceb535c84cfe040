package router

import (
	"fmt"
	"net/http"
	"runtime"
)

// A Route is one registration, as [Router.Walk] shows it.
type Route struct {
	Pattern string // with the prefixes of its groups
	Name    string // "" if it has none
	Accept  string // the media type for which it was registered, "" for any
}

// A route is a Route with its handler. It is immutable.
type route struct {
	Route
	handler http.Handler // with its middleware
	media   *mediaType   // of Accept, nil if there is none
	pattern *pattern     // nil if the route has no name
	site    callSite
}

// A callSite is the program counter of the call that registered a route. Its file and
// line are looked up only when it is printed, which is rare.
type callSite uintptr

// callerSite returns the call site that is skip functions above the caller of
// callerSite.
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

// An endpoint has the routes of one pattern. It is immutable.
type endpoint struct {
	routes []*route // one for each media type, in the order of registration
}

func (e *endpoint) pattern() string { return e.routes[0].Pattern }

// serve calls the handler of the route that Accept selects. If there is none, it calls
// notAcceptable, or responds with 406 if that is nil.
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

// choose returns the route for a request with the given Accept fields, nil if none is
// acceptable.
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
				continue // ignore invalid elements
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

// fallback returns the route without a media type, otherwise the first.
func fallback(routes []*route) *route {
	for _, r := range routes {
		if r.media == nil {
			return r
		}
	}
	return routes[0]
}

// best returns the route with the highest q. Among equals, the route whose range comes
// first in the request, and for the same range the route without a media type. That
// route also takes requests that match no other, unless a range excludes it.
func best(routes []*route, fits []mediaMatch) *route {
	var found *route
	var at mediaMatch
	for i, r := range routes {
		f := fits[i]
		switch {
		case f.q > at.q, f.q == at.q && f.q > 0 && (f.position < at.position ||
			f.position == at.position && r.media == nil):
			found, at = r, f
		case found == nil && r.media == nil && f.precision == 0:
			found = r // unless another route matches
		}
	}
	return found
}
