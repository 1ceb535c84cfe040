package router

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// A pathValues gives requests the path values of a route, as a ServeMux would
// whose pattern has the route's names: values of a pattern that matched
// before are gone, and what was set by SetPathValue stays but for these names.
// Any number of goroutines may share it. docs/decisions/path-values.md tells
// why it is made like this.
type pathValues struct {
	names   []string
	fields  requestFields
	pattern muxPattern // goes into requests; nil: the fields are not known, mux and url are used
	mux     *http.ServeMux
	url     *url.URL // of a request that mux gives as many values as there are names
}

// newPathValues returns the pathValues for names that are identifiers, no two
// of them equal. It keeps the slice. Since it takes some microseconds, routes
// with equal names should share it: see [sharedPathValues].
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

// plainPathValues is newPathValues for a net/http of which nothing is known
// but what it exports.
func muxPathValues(names []string) *pathValues {
	return &pathValues{names: names, mux: muxFor(names), url: &url.URL{Path: pathFor(names)}}
}

// set gives req the values that a lookup found for a route with these names.
// They lie in memory of from's that is req's for good, so found and from may
// serve the next request as soon as set returns. It reports whether a value
// begins with a dot: a loop of its own for that would cost half as much again.
func (v *pathValues) set(req *http.Request, found captures, from *valueChunk) (dotted bool) {
	if v.pattern == nil {
		return v.setByMux(req, found)
	}
	values := from.take(len(found.spans), req)
	for i := range values {
		values[i] = found.value(i)
		dotted = dotted || strings.HasPrefix(values[i], ".")
	}
	v.fields.write(req, v.pattern, values)
	return dotted
}

// setPlainly has a ServeMux set values, to no purpose but that it forgets those
// of other patterns and makes room for new ones. With GODEBUG=httpmuxgo121=1
// it does neither and SetPathValue makes the room.
func (v *pathValues) setByMux(req *http.Request, found captures) (dotted bool) {
	u, uri, pattern := req.URL, req.RequestURI, req.Pattern
	req.URL, req.RequestURI = v.url, v.url.Path
	v.mux.ServeHTTP(nil, req)
	req.URL, req.RequestURI, req.Pattern = u, uri, pattern
	for i, name := range v.names {
		req.SetPathValue(name, found.value(i))
		dotted = dotted || strings.HasPrefix(found.value(i), ".")
	}
	return dotted
}

// forgetPathValues takes from req, which nothing is found for, the values that
// the pattern of a router around this one gave it.
func forgetPathValues(req *http.Request) { noPathValues().set(req, captures{}, nil) }

var noPathValues = sync.OnceValue(func() *pathValues { return newPathValues(nil) })

// A sharedPathValues holds a pathValues for each list of names.
type sharedPathValues map[string]*pathValues

// of returns the one for these names, which it may keep.
func (s sharedPathValues) of(names []string) *pathValues {
	path := pathFor(names)
	v := s[path]
	if v == nil {
		v = newPathValues(names)
		s[path] = v
	}
	return v
}
