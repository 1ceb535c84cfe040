package router

import "net/http"

func newServeMux(patterns []string, handle func(i int) http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	for i, pattern := range patterns {
		mux.HandleFunc(pattern, handle(i))
	}
	return mux
}

// patterns returns the routes in net/http's syntax, which the sets use.
func patterns(routes []route) []string {
	out := make([]string, len(routes))
	for i, r := range routes {
		out[i] = r.method + " " + r.path
	}
	return out
}

func serveMuxReading(s set) *http.ServeMux {
	return newServeMux(patterns(s.routes), func(i int) http.HandlerFunc { return readPathValues(i, s.routes[i]) })
}

// readPathValues is the handler for routers that store the parameters in the request.
func readPathValues(i int, r route) http.HandlerFunc {
	return func(_ http.ResponseWriter, req *http.Request) {
		a := responseOf(req)
		a.route = i
		for k, name := range r.params {
			a.values[k] = req.PathValue(name)
		}
	}
}

// openServeMux may reuse a request: net/http overwrites the values of the last lookup.
func openServeMux(s set) (visiting, error) { return serving(serveMuxReading(s)), nil }

func openServeMuxFresh(s set) (visiting, error) { return servingFresh(serveMuxReading(s)), nil }

func lookupServeMux(s set) (visiting, error) {
	mux := serveMuxReading(s)
	return func(v *visitor) func(int) {
		return func(i int) {
			if h, pattern := mux.Handler(v.requests[i]); pattern != "" {
				h.ServeHTTP(&v.writer, v.requests[i])
			} else {
				v.response.route = refused
			}
		}
	}, nil
}

func prepareServeMux(routes []route) func() (any, error) {
	patterns := patterns(routes)
	return func() (any, error) {
		return newServeMux(patterns, func(int) http.HandlerFunc { return func(http.ResponseWriter, *http.Request) {} }),
			nil
	}
}
