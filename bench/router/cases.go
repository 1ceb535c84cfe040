package router

import (
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/bench/measure"
)

// A set is a case: routes, what is asked of them, and whether its parameters are constrained.
type set struct {
	name        string
	routes      []route
	requests    []*http.Request
	constrained bool // id is a UUID and addr an IPv4 address
}

// The names of the cases.
const (
	Static      = "router: 176 routes without parameters"
	GitHub      = "router: 294 routes of GitHub's API, every parameter read"
	NotFound    = "router: GitHub's routes, paths that none of them matches"
	CatchAll    = "router: one route with a rest of five segments, read"
	Constrained = "router: /static/{uuid}/{ipv4}, both read"
)

func sets() []set {
	github := newRoutes(githubRoutes)
	return []set{
		reaching(Static, newRoutes(staticRoutes)),
		reaching(GitHub, github),
		{name: NotFound, routes: github, requests: missing()},
		reaching(CatchAll, []route{newRoute("GET /files/{path...}")}),
		{
			name:        Constrained,
			routes:      []route{newRoute("GET /static/{id}/{addr}")},
			requests:    []*http.Request{newRoute("GET /static/{id}/{addr}").request()},
			constrained: true,
		},
	}
}

// reaching is the set whose requests reach each route once.
func reaching(name string, routes []route) set {
	s := set{name: name, routes: routes}
	for _, r := range routes {
		s.requests = append(s.requests, r.request())
	}
	return s
}

// missing are requests that go wrong at the first, a middle and the last segment.
func missing() []*http.Request {
	var requests []*http.Request
	for _, path := range []string{
		"/nowhere",
		"/users/some-username/nothing",
		"/repos/some-owner/some-repo/nothing/at/all",
		"/repos/some-owner/some-repo/issues/7/labels/some-name/more",
		"/orgs/some-org/teams/some-team/nothing",
	} {
		requests = append(requests, httptest.NewRequest("GET", path, nil))
	}
	return requests
}

// A contender serves requests to a set's routes.
type contender struct {
	name, note  string
	ours        bool
	constraints bool // whether it can hold a parameter to a shape
	open        func(s set, a *answer) (serve func(i int), err error)
}

var contenders = []contender{
	{name: WeirTable, note: "Lookup, no net/http", ours: true, constraints: true, open: openTable},
	{name: WeirRouter, ours: true, constraints: true, open: openRouter},
	{name: "httprouter", open: openHTTPRouter},
	{name: "bunrouter", open: openBunrouter},
	{name: "chi", note: "constraints as expressions", constraints: true, open: openChi},
	{name: "net/http ServeMux", open: openServeMux},
}

// The names of Weir's rows.
const (
	WeirTable  = "weir Table"
	WeirRouter = "weir Router"
)

// Cases returns the comparisons. An operation is one request.
func Cases() ([]measure.Case, error) {
	var cases []measure.Case
	for _, s := range sets() {
		c := measure.Case{Name: s.name}
		for _, peer := range contenders {
			if s.constrained && !peer.constraints {
				continue
			}
			serve, err := peer.open(s, new(answer))
			if err != nil {
				return nil, err
			}
			c.Rows = append(c.Rows, measure.Row{Name: peer.name, Note: peer.note, Ours: peer.ours, Run: inTurn(serve, len(s.requests))})
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// inTurn serves the requests one after the other, starting again after the last.
func inTurn(serve func(int), requests int) func(int) {
	next := 0
	return func(n int) {
		for range n {
			serve(next)
			if next++; next == requests {
				next = 0
			}
		}
	}
}
