package router

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// A pathValues sets the path values of requests as a ServeMux with the names of a route
// would: values of an earlier match are removed, and values set by SetPathValue stay
// except for these names. Goroutines may share it. docs/decisions/path-values.md
// explains the design.
type pathValues struct {
	names   []string
	fields  requestFields
	pattern muxPattern // is set in requests; nil: fields are unknown, and mux and url are used
	mux     *http.ServeMux
	url     *url.URL // of a request to which mux gives as many values as there are names
}

// newPathValues returns the pathValues for names, which are different identifiers. It
// keeps the slice. It takes some microseconds, so routes with equal names should share
// it: see [sharedPathValues].
func newPathValues(names []string) *pathValues {
	v := muxPathValues(names)
	fields, err := findRequestFields()
	if err != nil {
		return v
	}
	served := http.Request{URL: v.url}
	v.mux.ServeHTTP(nil, &served)
	return &pathValues{names: names, fields: fields, pattern: fields.read(&served)}
}

// muxPathValues is newPathValues with only the exported API of net/http.
func muxPathValues(names []string) *pathValues {
	return &pathValues{names: names, mux: muxFor(names), url: &url.URL{Path: pathFor(names)}}
}

// set sets the values of req that a lookup found for a route with these names. The
// first name may be that of a host's wildcard; its value is not in found, and remains
// for the caller to set. set
// copies them into memory from the chunk, so found and from can be reused when set
// returns. It reports whether a value begins with a dot: a separate loop for that would
// take half as much time again.
func (v *pathValues) set(req *http.Request, found captures, from *valueChunk) (dotted bool) {
	if v.pattern == nil {
		return v.setByMux(req, found)
	}
	values := from.take(len(v.names), req)
	path := values[len(v.names)-len(found.spans):]
	for i := range path {
		path[i] = found.value(i)
		dotted = dotted || strings.HasPrefix(path[i], ".")
	}
	v.fields.write(req, v.pattern, values)
	return dotted
}

// setByMux serves req with a ServeMux, which removes the values of other patterns and
// allocates new ones. With GODEBUG=httpmuxgo121=1 it does neither, and SetPathValue
// allocates them.
func (v *pathValues) setByMux(req *http.Request, found captures) (dotted bool) {
	u, uri, pattern := req.URL, req.RequestURI, req.Pattern
	req.URL, req.RequestURI = v.url, v.url.Path
	v.mux.ServeHTTP(nil, req)
	req.URL, req.RequestURI, req.Pattern = u, uri, pattern
	for i, name := range v.names[len(v.names)-len(found.spans):] {
		req.SetPathValue(name, found.value(i))
		dotted = dotted || strings.HasPrefix(found.value(i), ".")
	}
	return dotted
}

// forgetPathValues removes from a request without a match the values that the pattern
// of an outer router set.
func forgetPathValues(req *http.Request) { noPathValues().set(req, captures{}, nil) }

var noPathValues = sync.OnceValue(func() *pathValues { return newPathValues(nil) })

// A sharedPathValues has a pathValues for each list of names.
type sharedPathValues map[string]*pathValues

// of returns the pathValues for these names. It may keep the slice.
func (s sharedPathValues) of(names []string) *pathValues {
	path := pathFor(names)
	v := s[path]
	if v == nil {
		v = newPathValues(names)
		s[path] = v
	}
	return v
}
