package router

import (
	"net/http"

	weir "github.com/weirhq/weir/router"
)

// openTable calls the table directly with the parsed parts of the request.
func openTable(s set) (visiting, error) {
	table, err := newTable(s.weirPatterns(), func(i int) int { return i })
	return func(v *visitor) func(int) {
		var params weir.Params
		return func(i int) {
			req := v.requests[i]
			e, allow := table.Lookup(req.Method, req.Host, req.URL.Path, req.URL.RawPath, &params)
			if e == nil {
				v.response.route = tableRefusal(allow)
				return
			}
			v.response.route = e.Value
			for k, name := range s.routes[e.Value].params {
				v.response.values[k] = params.Get(name)
			}
		}
	}, err
}

func tableRefusal(allow string) int {
	if allow != "" {
		return notAllowed
	}
	return notFound
}

func newTable[T any](patterns []string, value func(i int) T) (*weir.Table[T], error) {
	entries := make([]weir.Entry[T], len(patterns))
	for i, pattern := range patterns {
		entries[i] = weir.Entry[T]{Pattern: pattern, Value: value(i)}
	}
	return weir.NewTable(nil, entries)
}

func openRouter(s set) (visiting, error) {
	r := newRouter(s.weirPatterns(), func(i int) http.HandlerFunc { return readPathValues(i, s.routes[i]) })
	r.NotFound = http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { responseOf(req).route = notFound })
	return servingFresh(r), nil
}

func newRouter(patterns []string, handle func(i int) http.HandlerFunc) *weir.Router {
	r := new(weir.Router)
	for i, pattern := range patterns {
		r.HandleFunc(pattern, handle(i))
	}
	return r
}

// weirPatterns returns the routes unchanged, with the constraints of the set.
func (s set) weirPatterns() []string {
	if !s.constrained {
		return patterns(s.routes)
	}
	out := paths(s.routes, func(name string) string { return "{" + name + ":" + name + "}" }, nil)
	for i, r := range s.routes {
		out[i] = r.method + " " + out[i]
	}
	return out
}

func prepareTable(routes []route) func() (any, error) {
	patterns := patterns(routes)
	return func() (any, error) {
		return newTable(patterns,
			func(int) http.Handler { return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}) })
	}
}

// prepareRouter requests a route of each router, because the first request compiles the patterns.
func prepareRouter(routes []route) func() (any, error) {
	patterns, first := patterns(routes), newVisitor(reaching(routes[:1]))
	return func() (any, error) {
		r := newRouter(patterns, func(int) http.HandlerFunc { return func(http.ResponseWriter, *http.Request) {} })
		servingFresh(r)(first)(0)
		return r, nil
	}
}
