package router

import (
	"strings"
	"testing"
)

func TestEveryRowReachesTheSame(t *testing.T) {
	for _, s := range sets() {
		for _, c := range contenders {
			if s.constrained && !c.constraints {
				continue
			}
			t.Run(s.name+"/"+c.name, func(t *testing.T) { checkSet(t, s, c) })
		}
	}
}

func checkSet(t *testing.T, s set, c contender) {
	var got answer
	serve, err := c.open(s, &got)
	if err != nil {
		t.Fatal(err)
	}
	for i, req := range s.requests {
		want := answer{route: notFound}
		if s.name != NotFound {
			want = expected(i, s.routes[i])
		}
		got = answer{route: -2}
		serve(i)
		got.values[0] = strings.TrimPrefix(got.values[0], "/") // httprouter hands over a rest with its slash
		if got != want {
			t.Errorf("%s %s: got %+v, want %+v", req.Method, req.URL, got, want)
		}
	}
}

// expected is what the request of route i must find there: the values that were put into its path.
func expected(i int, r route) answer {
	want := answer{route: i}
	for k, name := range r.params {
		want.values[k] = sampleValue(name)
	}
	if strings.HasSuffix(r.path, "...}") {
		want.values[len(r.params)-1] = "economy/2026/november/table-7/figures.csv"
	}
	return want
}

func TestSizesNamedInTheCases(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  int
	}{{staticRoutes, 176}, {githubRoutes, 294}} {
		if got := len(newRoutes(c.lines)); got != c.want {
			t.Errorf("got %d routes, want %d as the case's name says", got, c.want)
		}
	}
}

// A constrained row must refuse as well as accept, or it would be fast for nothing.
func TestConstraintsRefuse(t *testing.T) {
	for _, c := range contenders {
		if !c.constraints {
			continue
		}
		s := sets()[len(sets())-1]
		for _, path := range []string{"/static/018f2a4e/192.168.10.254", "/static/018f2a4e-7c3b-4d61-9a5e-0b1c2d3e4f50/300.1.1.1"} {
			s.requests[0].URL.Path = path
			got := answer{route: notFound}
			serve, err := c.open(s, &got)
			if err != nil {
				t.Fatal(err)
			}
			serve(0)
			if got.route != notFound {
				t.Errorf("%s took %s", c.name, path)
			}
		}
	}
}
