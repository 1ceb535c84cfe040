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
	place   place
}

// A place is where a route was registered, as a program counter, since most
// are never shown.
type place uintptr

// callerPlace returns the place of the call that lies skip functions above
// the one that calls it.
func callerPlace(skip int) place {
	var pcs [1]uintptr
	runtime.Callers(skip+2, pcs[:])
	return place(pcs[0])
}

// String returns file:line.
func (p place) String() string {
	frame, _ := runtime.CallersFrames([]uintptr{uintptr(p)}).Next()
	if frame.File == "" {
		return "an unknown place"
	}
	return fmt.Sprintf("%s:%d", frame.File, frame.Line)
}
