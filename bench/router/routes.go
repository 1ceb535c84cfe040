// Package router has the rows that compare routers: the same routes, the same requests, the handler that a request
// reaches reads each of its parameters. A test holds every row to reach the same handler with the same values.
//
// The routes are facts about two public things: the packages of Go's standard library (a set without parameters) and
// GitHub's REST API, version 3, without the few routes where a literal stands beside a parameter, which httprouter
// has no way to express.
package router

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
)

//go:embed static.txt
var staticRoutes string

//go:embed github.txt
var githubRoutes string

// A route is a pattern in net/http's words: {name} is a segment, {name...} at the end the rest. A parameter can have
// a constraint by its name: rules says which.
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

// rewrite returns the route's path with each parameter in a peer's own words.
func (r route) rewrite(segment, rest func(name string) string) string {
	return parameter.ReplaceAllStringFunc(r.path, func(p string) string {
		name := strings.Trim(p, "{}")
		if before, ok := strings.CutSuffix(name, "..."); ok {
			return rest(before)
		}
		return segment(name)
	})
}

// colons is the way of httprouter and bunrouter.
func (r route) colons() string {
	return r.rewrite(func(name string) string { return ":" + name }, func(name string) string { return "*" + name })
}

// request returns one that reaches the route.
func (r route) request() *http.Request {
	path := r.rewrite(sampleValue, func(string) string { return "economy/2026/november/table-7/figures.csv" })
	return httptest.NewRequest(r.method, path, nil)
}

// sampleValue is what stands in a request for a parameter of this name.
func sampleValue(name string) string {
	switch name {
	case "id":
		return "018f2a4e-7c3b-4d61-9a5e-0b1c2d3e4f50"
	case "addr":
		return "192.168.10.254"
	}
	return "some-" + strings.ReplaceAll(name, "_", "-")
}

// answer is where a handler leaves what it was given.
type answer struct {
	route  int // the index of the route that was reached, or notFound
	values [4]string
}

const notFound = -1
