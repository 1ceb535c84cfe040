// Package router contains the rows that compare routers. All have the same routes and requests, and the handler reads
// each of its parameters by name. A test checks that all rows reach the same handler with the same values.
//
// The routes are those of public interfaces: the packages of Go's standard library (a set without parameters), the REST
// APIs of GitHub (version 3, without the few routes with a literal beside a parameter, which httprouter does not
// support), of Google+ and of Parse.
package router

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
)

var (
	//go:embed static.txt
	staticRoutes string
	//go:embed github.txt
	githubRoutes string
	//go:embed gplus.txt
	gplusRoutes string
	//go:embed parse.txt
	parseRoutes string
)

// A route is a pattern in net/http's syntax: {name} is a segment, {name...} at the end is the rest of the path.
type route struct {
	method, path string
	params       []string
}

var parameter = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

func newRoute(pattern string) route {
	method, path, _ := strings.Cut(pattern, " ")
	r := route{method: method, path: path}
	for _, m := range parameter.FindAllStringSubmatch(path, -1) {
		r.params = append(r.params, m[1])
	}
	return r
}

func newRoutes(lines string) []route {
	var routes []route
	for line := range strings.Lines(lines) {
		routes = append(routes, newRoute(strings.TrimSpace(line)))
	}
	return routes
}

// rewrite returns the route's path with each parameter in a peer's syntax.
func (r route) rewrite(segment, rest func(name string) string) string {
	return parameter.ReplaceAllStringFunc(r.path, func(p string) string {
		name := strings.Trim(p, "{}")
		if before, ok := strings.CutSuffix(name, "..."); ok {
			return rest(before)
		}
		return segment(name)
	})
}

// request returns a request for the route. If the route ends in a rest, it has that many segments.
func (r route) request(rest int) *http.Request {
	path := r.rewrite(sampleValue, func(string) string { return segments(rest) })
	return httptest.NewRequest(r.method, path, nil)
}

// matches reports whether the route matches a path, for any method. The route must not end in a rest.
func (r route) matches(path string) bool {
	want, got := strings.Split(r.path, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

// sampleValue returns the value for a parameter of this name in requests.
func sampleValue(name string) string {
	switch name {
	case "uuid":
		return "018f2a4e-7c3b-4d61-9a5e-0b1c2d3e4f50"
	case "ipv4":
		return "192.168.10.254"
	}
	return "some-" + strings.ReplaceAll(name, "_", "-")
}

// segments returns n segments. They are short because bunrouter stores the length of a rest in 16 bits.
func segments(n int) string {
	return strings.TrimSuffix(strings.Repeat("entry/", n), "/")
}
