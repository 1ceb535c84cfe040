package router

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Served is one of the routers, for requests over a network. It has GitHub's routes and "GET /files/{path...}", whose
// rest may have any length. It is safe for concurrent use.
type Served struct {
	askers sync.Pool // of *asker
}

// An asker sends one request at a time.
type asker struct {
	visitor *visitor
	ask     func(i int)
}

// servedRouters are the routers for Serve, with their own types of handlers.
var servedRouters = append(native[:len(native):len(native)], gorillaNative)

// ServedNames returns the names of the routers for Serve.
func ServedNames() []string {
	var names []string
	for _, c := range servedRouters {
		names = append(names, c.name)
	}
	return names
}

// Serve returns the router with the name.
func Serve(name string) (*Served, error) {
	for _, c := range servedRouters {
		if c.name == name {
			return serve(c)
		}
	}
	return nil, fmt.Errorf("no router is called %q: there are %s", name, strings.Join(ServedNames(), ", "))
}

func serve(c contender) (*Served, error) {
	files := newRoute("GET /files/{path...}")
	s := set{routes: append(newRoutes(githubRoutes), files), requests: []*http.Request{files.request(1)}}
	visit, err := c.open(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	served := &Served{}
	served.askers.New = func() any {
		v := newVisitor(s)
		return &asker{visitor: v, ask: visit(v)}
	}
	return served, nil
}

// Route sends the request through the router to a handler that reads its parameters, and returns the time until then.
// found is false if no route matches. The request is not changed.
func (s *Served) Route(r *http.Request) (took time.Duration, found bool) {
	a := s.askers.Get().(*asker)
	defer s.askers.Put(a)
	mine := a.visitor.requests[0]
	*mine = *r
	mine.Body = &a.visitor.response
	a.visitor.response.route = refused
	start := time.Now()
	a.ask(0)
	return time.Since(start), a.visitor.response.route >= 0
}

// FilesPath returns a path of n segments below /files/.
func FilesPath(n int) string { return "/files/" + segments(n) }

// GitHubRequests returns a request for each of GitHub's routes, as in "GET /gists/1".
func GitHubRequests() []string {
	var all []string
	for _, r := range github().requests {
		all = append(all, r.Method+" "+r.URL.RequestURI())
	}
	return all
}
