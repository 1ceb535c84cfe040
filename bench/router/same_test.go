package router

import (
	"strings"
	"testing"
)

func TestEveryRowReachesTheSame(t *testing.T) {
	for _, c := range comparisons() {
		s := c.set()
		for _, peer := range c.rows {
			t.Run(c.name+"/"+peer.name+" "+peer.note, func(t *testing.T) { checkRow(t, s, peer) })
		}
	}
}

func checkRow(t *testing.T, s set, peer contender) {
	visit, err := peer.open(s)
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitor(s)
	ask := visit(v)
	for i, req := range s.requests {
		if t.Failed() {
			return // the others would report the same
		}
		v.response = response{route: -100}
		ask(i)
		got := v.response
		got.values[0] = strings.TrimPrefix(got.values[0], "/") // httprouter and gin include the slash in the rest
		if got.route == refused && s.want[i].route < 0 {
			got.route = s.want[i].route
		}
		if got != s.want[i] {
			t.Errorf("%s %.100s: got route %d and %.300q, want %d and %.300q",
				req.Method, req.URL.Path, got.route, got.values, s.want[i].route, s.want[i].values)
		}
	}
}

func TestParallelRowsAskForEverything(t *testing.T) {
	s := github()
	asked := make(chan int, 4*len(s.requests))
	visit := func(*visitor) func(int) { return func(i int) { asked <- i } }
	atOnce(visit, s)(2 * len(s.requests))
	close(asked)
	seen := map[int]bool{}
	n := 0
	for i := range asked {
		seen[i] = true
		n++
	}
	if n != 2*len(s.requests) || len(seen) != len(s.requests) {
		t.Errorf("asked %d times for %d requests, want %d and %d", n, len(seen), 2*len(s.requests), len(s.requests))
	}
}

func TestSetsHaveTheNamedSizes(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  int
	}{{staticRoutes, 176}, {githubRoutes, 294}, {gplusRoutes, 13}, {parseRoutes, 26}} {
		if got := len(newRoutes(c.lines)); got != c.want {
			t.Errorf("got %d routes, want %d as the case's name says", got, c.want)
		}
	}
}

func TestMixedRoutesDiffer(t *testing.T) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		seen := map[string]bool{}
		for _, r := range mixed(n) {
			seen[r.method+r.path] = true
		}
		if len(seen) != n {
			t.Errorf("got %d different routes, want %d", len(seen), n)
		}
	}
}

func TestEveryRouterHoldsTheLargeSet(t *testing.T) {
	for _, m := range Makings() {
		made, err := m.Make()
		if err != nil || made == nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
