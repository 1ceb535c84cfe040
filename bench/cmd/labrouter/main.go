// Labrouter is the service of the built-in experiment about routing: an HTTP server that sends each request through one
// of the routers that bench/router compares and tells, for paths of 1, 10, 100, 1,000 and 10,000 segments below /files/,
// how long that took: from the request as net/http has parsed it to a handler that has read the path's rest.
//
//	labrouter --listen 127.0.0.1:8080 --router chi
//	labrouter --requests FILE    writes requests for such paths, as weir load --requests-file reads them
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
	name := flag.String("router", router.WeirRouter, "who routes: "+strings.Join(router.ServedNames(), ", "))
	requests := flag.String("requests", "", "write requests to this `file` instead")
	flag.Parse()
	if err := run(*listen, *name, *requests); err != nil {
		log.Fatalf("labrouter: error: %v", err)
	}
}

func run(listen, name, requests string) error {
	if requests != "" {
		return os.WriteFile(requests, []byte(requestLines()), 0o644)
	}
	routes, err := router.Serve(name)
	if err != nil {
		return fmt.Errorf("--router: %w", err)
	}
	s := newRouted(routes)
	err = labservice.Serve(listen, s)
	return errors.Join(err, labservice.Leave(s.measures()))
}

// lengths are those that are measured, in segments.
var lengths = []int{1, 10, 100, 1000, 10_000}

// between are those that show how the time grows from one to the next; what it
// grows to is what a router is judged by.
var between = []int{10, 1000}

// requestLines has a request for each length. Whoever sends them says where to.
func requestLines() string {
	var b strings.Builder
	for _, n := range lengths {
		fmt.Fprintf(&b, "GET http://127.0.0.1%s\n", router.FilesPath(n))
	}
	return b.String()
}

// routed answers what the router has found, and keeps how long it took.
type routed struct {
	routes *router.Served
	times  map[int]*labservice.Times // by length; not written to while it serves
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
	}
	w.WriteHeader(http.StatusNoContent)
}

// measures have the median of each length that was asked for: a mean would tell of the moments in which the machine did
// something else.
func (s *routed) measures() []labservice.Measure {
	var measures []labservice.Measure
	for _, n := range lengths {
		if times := s.times[n]; times.Count() > 0 {
			m := labservice.Measure{Name: fmt.Sprintf("routing, path of %d", n), Unit: "us", Value: labservice.Microseconds(times.Quantile(0.5))}
			if slices.Contains(between, n) {
				m.Better = "neither"
			}
			measures = append(measures, m)
		}
	}
	return measures
}
