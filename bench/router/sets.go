package router

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
)

// A set contains routes and requests.
type set struct {
	routes      []route
	requests    []*http.Request
	want        []response // for each request
	constrained bool       // every parameter has the shape in its name: uuid or ipv4
	// a wrong method must be distinguished from a wrong path, which some routers do only if configured
	methods bool
}

// response is the result of a request.
type response struct {
	route  int // the index of the route, or one of the constants below
	values [20]string
}

const (
	notFound   = -1
	notAllowed = -2
	refused    = -3 // no route matched, and the call does not report the reason
)

// A response is passed to the handler as the body of the request, which every router keeps. A handler with a fixed
// response could not serve several goroutines.
func (*response) Read([]byte) (int, error) { return 0, io.EOF }
func (*response) Close() error             { return nil }

func responseOf(req *http.Request) *response { return req.Body.(*response) }

// reaching returns a set with one request for each route.
func reaching(routes []route) set { return reachingSome(routes, len(routes)) }

// reachingSome returns a set with requests for n of the routes, in a random but reproducible choice and order.
func reachingSome(routes []route, n int) set {
	s := set{routes: routes}
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(routes))
	if n == len(routes) {
		for i := range order {
			order[i] = i
		}
	}
	for _, i := range order[:n] {
		s.requests = append(s.requests, routes[i].request(0))
		s.want = append(s.want, reached(i, routes[i]))
	}
	return s
}

// unread returns the set with handlers that read no parameters.
func unread(s set) set {
	for i := range s.routes {
		s.routes[i].params = nil
	}
	for i := range s.want {
		s.want[i].values = response{}.values
	}
	return s
}

// reached returns the expected result of the request for route i, with the values in its path.
func reached(i int, r route) response {
	a := response{route: i}
	for k, name := range r.params {
		a.values[k] = sampleValue(name)
	}
	return a
}

// missing returns a set of paths that no route matches.
func missing(routes []route, paths ...string) set {
	s := set{routes: routes}
	for _, path := range paths {
		s.requests = append(s.requests, httptest.NewRequest("GET", path, nil))
		s.want = append(s.want, response{route: notFound})
	}
	return s
}

// githubMisses differ from the routes in the first, a middle or the last segment.
func githubMisses() set {
	return missing(newRoutes(githubRoutes),
		"/nowhere",
		"/users/some-username/nothing",
		"/repos/some-owner/some-repo/nothing/at/all",
		"/repos/some-owner/some-repo/issues/7/labels/some-name/more",
		"/orgs/some-org/teams/some-team/nothing",
	)
}

// githubWrongMethods requests each path of GitHub's with a method that it does not allow.
func githubWrongMethods() set {
	s := set{routes: newRoutes(githubRoutes), methods: true}
	asked := map[string]bool{}
	for _, r := range s.routes {
		path := r.request(0).URL.Path
		method := methodNotTaken(s.routes, path)
		if asked[path] || method == "" {
			continue
		}
		asked[path] = true
		s.requests = append(s.requests, httptest.NewRequest(method, path, nil))
		s.want = append(s.want, response{route: notAllowed})
	}
	return s
}

// methodNotTaken returns a method that other paths allow and this one does not, or "".
func methodNotTaken(routes []route, path string) string {
	taken := map[string]bool{}
	for _, r := range routes {
		if r.matches(path) {
			taken[r.method] = true
		}
	}
	for _, method := range []string{"POST", "DELETE", "PUT", "PATCH", "GET"} {
		if !taken[method] {
			return method
		}
	}
	return ""
}

// rest returns one route with a rest of n segments.
func rest(n int) set {
	r := newRoute("GET /files/{path...}")
	want := response{route: 0}
	want.values[0] = segments(n)
	return set{routes: []route{r}, requests: []*http.Request{r.request(n)}, want: []response{want}}
}

// missingLong requests a path of n segments that differs from GitHub's routes in the third.
func missingLong(n int) set {
	return missing(newRoutes(githubRoutes), "/users/some-username/"+segments(n-2))
}

// constrainedRoutes are a UUID and an address, in this order and swapped.
func constrainedRoutes() []route {
	return []route{newRoute("GET /static/{uuid}/{ipv4}"), newRoute("GET /static/{ipv4}/{uuid}")}
}

func constrained() set {
	s := reaching(constrainedRoutes())
	s.constrained = true
	return s
}

// constrainedMisses are invalid in the first parameter or in the second.
func constrainedMisses() set {
	uuid, ipv4 := sampleValue("uuid"), sampleValue("ipv4")
	s := missing(constrainedRoutes(),
		"/static/018f2a4e/"+ipv4,
		"/static/"+uuid+"/300.1.1.1",
		"/static/"+ipv4+"/"+uuid[:35]+"g",
		"/static/192.168.10/"+uuid,
	)
	s.constrained = true
	return s
}

// places are the names of parameters in long patterns. If all names had the same length, finding one would be slower
// than with realistic names.
var places = strings.Fields("region country state county city district quarter street house entrance floor room " +
	"aisle rack shelf " +
	"box folder sheet column cell")

// parameters returns one route of n parameters, at most 20.
func parameters(n int) set {
	return reaching([]route{newRoute("GET /{" + strings.Join(places[:n], "}/{") + "}")})
}

// nouns are the services and resources of fictitious interfaces.
var nouns = []string{
	"accounts", "addresses", "assets", "batches", "bookings", "carts", "catalogues", "channels", "charges", "claims",
	"contacts", "contracts", "customers", "deliveries", "devices", "documents", "events", "exports", "invoices", "jobs",
	"ledgers", "licences", "locations", "messages", "orders", "parcels", "payments", "plans", "prices", "products",
	"projects", "quotes", "refunds", "reports", "returns", "shipments", "suppliers", "tickets", "users", "vouchers",
}

// mixed returns n routes, a multiple of ten, as in an organisation with many services: four in ten are static, the
// others have one or two parameters.
func mixed(n int) []route {
	var routes []route
	for i := range n / 10 {
		resource := fmt.Sprintf("/%s/%s", nouns[i%len(nouns)], nouns[i/len(nouns)%len(nouns)])
		for _, pattern := range []string{
			"GET /api" + resource, "POST /api" + resource,
			"GET /api" + resource + "/{id}", "PUT /api" + resource + "/{id}", "DELETE /api" + resource + "/{id}",
			"GET /api" + resource + "/{id}/history",
			"GET /api" + resource + "/{id}/comments/{comment}", "DELETE /api" + resource + "/{id}/comments/{comment}",
			"GET /docs" + resource, "GET /docs" + resource + "/reference",
		} {
			routes = append(routes, newRoute(pattern))
		}
	}
	return routes
}

// mostAsked limits the requests for a large set. With more of them the speed of memory would dominate.
const mostAsked = 1000

func mixedSet(n int) set {
	routes := mixed(n)
	return reachingSome(routes, min(n, mostAsked))
}
