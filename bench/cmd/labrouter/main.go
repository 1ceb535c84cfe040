// Labrouter is the service of the built-in experiment about routing: an HTTP server that sends each request through one
// of the routers that bench/router compares. For paths of 1, 10, 100, 1,000 and 10,000 segments below /files/ it
// measures the time from the request as parsed by net/http to a handler that has read the rest of the path.
//
//	labrouter --listen 127.0.0.1:8080 --router chi
//	labrouter --requests FILE    writes requests for such paths, for weir load --requests-file
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

// routed responds with the result of the router and stores the duration.
type routed struct {
	routes *router.Served
	times  map[int]*labservice.Times // by length; not changed while serving
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

// measures returns the median for each requested length. A mean would include moments in which the machine was busy.
func (s *routed) measures() []labservice.Measure {
	var measures []labservice.Measure
	for _, n := range lengths {
		if times := s.times[n]; times.Count() > 0 {
			m := labservice.Measure{Name: fmt.Sprintf("routing, path of %d", n), Unit: "us",
				Value: labservice.Microseconds(times.Quantile(0.5))}
			if slices.Contains(between, n) {
				m.Better = "neither"
			}
			measures = append(measures, m)
		}
	}
	return measures
}
