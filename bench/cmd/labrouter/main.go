// Labrouter is the service of the built-in experiments about routing: an HTTP server that sends each request through one
// of the routers that bench/router compares. It measures the time from the request as parsed by net/http to a handler
// that has read the parameters: for GitHub's routes, and for paths of 1, 10, 100, 1,000 and 10,000 segments below
// /files/.
//
//	labrouter --listen 127.0.0.1:8080 --router chi
//	labrouter --requests FILE                for such paths, for weir load --requests-file
//	labrouter --requests FILE --of github    for each of GitHub's routes
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/weirhq/weir/bench/labservice"
	"github.com/weirhq/weir/bench/router"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "the `address` to serve on")
	name := flag.String("router", router.WeirRouter, "router, one of "+strings.Join(router.ServedNames(), ", "))
	requests := flag.String("requests", "", "write requests to this `file` instead")
	of := flag.String("of", "lengths", "the requests to write, lengths or github")
	flag.Parse()
	if err := run(*listen, *name, *requests, *of); err != nil {
		log.Fatalf("labrouter: error: %v", err)
	}
}

func run(listen, name, requests, of string) error {
	if requests != "" {
		lines, ok := map[string]string{"lengths": requestLines(), "github": githubLines()}[of]
		if !ok {
			return fmt.Errorf("--of %s: there are lengths and github", of)
		}
		return os.WriteFile(requests, []byte(lines), 0o644)
	}
	routes, err := router.Serve(name)
	if err != nil {
		return fmt.Errorf("--router: %w", err)
	}
	s := newRouted(routes)
	err = labservice.Serve(listen, s)
	return errors.Join(err, labservice.Leave(s.measures()))
}

// lengths are the measured lengths in segments.
var lengths = []int{1, 10, 100, 1000, 10_000}

// between are the lengths that show the growth between the others; the target is about the growth in total.
var between = []int{10, 1000}

// requestLines returns a request for each length. The load generator supplies the host.
func requestLines() string {
	var b strings.Builder
	for _, n := range lengths {
		fmt.Fprintf(&b, "GET http://127.0.0.1%s\n", router.FilesPath(n))
	}
	return b.String()
}

// githubLines returns a request for each of GitHub's routes.
func githubLines() string {
	var b strings.Builder
	for _, r := range router.GitHubRequests() {
		fmt.Fprintf(&b, "%s\n", strings.Replace(r, " ", " http://127.0.0.1", 1))
	}
	return b.String()
}

// routed responds with the result of the router and stores the duration.
type routed struct {
	routes *router.Served
	times  map[int]*labservice.Times // by length; not changed while serving
	github labservice.Times
}

func newRouted(routes *router.Served) *routed {
	s := &routed{routes: routes, times: map[int]*labservice.Times{}}
	for _, n := range lengths {
		s.times[n] = new(labservice.Times)
	}
	return s
}

func (s *routed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	took, found := s.routes.Route(r)
	if !found {
		http.NotFound(w, r)
		return
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		if times := s.times[strings.Count(rest, "/")+1]; times != nil {
			times.Add(took)
		}
	} else {
		s.github.Add(took)
	}
	w.WriteHeader(http.StatusNoContent)
}

// measures returns the median for GitHub's routes and for each length, where they were requested. A mean would include
// moments in which the machine was busy.
func (s *routed) measures() []labservice.Measure {
	var measures []labservice.Measure
	add := func(times *labservice.Times, name, better string) {
		if times.Count() > 0 {
			measures = append(measures, labservice.Measure{Name: name, Unit: "us", Better: better,
				Value: labservice.Microseconds(times.Quantile(0.5))})
		}
	}
	add(&s.github, "routing, GitHub's API", "")
	for _, n := range lengths {
		better := ""
		if slices.Contains(between, n) {
			better = "neither"
		}
		add(s.times[n], fmt.Sprintf("routing, path of %d", n), better)
	}
	return measures
}
