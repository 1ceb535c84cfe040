package router

import (
	"net/http"

	weir "github.com/weirhq/weir/router"
)

// openTable asks the table itself, as the front door does: method, host and escaped path in, value and parameters
// out.
func openTable(s set, a *answer) (func(int), error) {
	entries := make([]weir.Entry[int], len(s.routes))
	for i, r := range s.routes {
		entries[i] = weir.Entry[int]{Pattern: weirPattern(s, r), Value: i}
	}
	table, err := weir.NewTable(nil, entries)
	if err != nil {
		return nil, err
	}
	var params weir.Params
	return func(i int) {
		req := s.requests[i]
		m := table.Lookup(req.Method, req.Host, req.URL.Path, &params)
		if !m.Found {
			a.route = notFound
			return
		}
		a.route = m.Value
		for k, name := range s.routes[m.Value].params {
			a.values[k] = params.Get(name)
		}
	}, nil
}

func openRouter(s set, a *answer) (func(int), error) {
	r := weir.New()
	r.HandleFunc("/{rest...}", func(http.ResponseWriter, *http.Request) { a.route = notFound })
	for i, route := range s.routes {
		r.HandleFunc(weirPattern(s, route), readPathValues(i, route, a))
	}
	return serving(r, s), nil
}

// weirPattern is the route as it is, with the constraints that its set asks for.
func weirPattern(s set, r route) string {
	if !s.constrained {
		return r.method + " " + r.path
	}
	rules := map[string]string{"id": "uuid", "addr": "ipv4"}
	return r.method + " " + r.rewrite(func(name string) string { return "{" + name + ":" + rules[name] + "}" }, nil)
}
