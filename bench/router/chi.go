package router

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

func newChi(routes []route, paths []string, handle func(i int) http.HandlerFunc) *chi.Mux {
	r := chi.NewRouter()
	r.NotFound(func(_ http.ResponseWriter, req *http.Request) { responseOf(req).route = notFound })
	r.MethodNotAllowed(func(_ http.ResponseWriter, req *http.Request) { responseOf(req).route = notAllowed })
	for i := range routes {
		r.MethodFunc(routes[i].method, paths[i], handle(i))
	}
	return r
}

// chiReading reads the parameters of a request with get. Chi calls the rest of a path "*".
func chiReading(s set, get func(req *http.Request, name string) string) *chi.Mux {
	return newChi(s.routes, paths(s.routes, s.braced, alone), func(i int) http.HandlerFunc {
		keys := append([]string(nil), s.routes[i].params...)
		s.routes[i].rewrite(braces, func(string) string { keys[len(keys)-1] = "*"; return "" })
		return func(_ http.ResponseWriter, req *http.Request) {
			a := responseOf(req)
			a.route = i
			for k, key := range keys {
				a.values[k] = get(req, key)
			}
		}
	})
}

func openChi(s set) (visiting, error) { return serving(chiReading(s, chi.URLParam)), nil }

func openChiPathValue(s set) (visiting, error) {
	return servingFresh(chiReading(s, (*http.Request).PathValue)), nil
}

// lookupChi is for paths without a route: Match returns only whether there is one.
func lookupChi(s set) (visiting, error) {
	r := chiReading(s, chi.URLParam)
	return func(v *visitor) func(int) {
		ctx := chi.NewRouteContext()
		return func(i int) {
			req := v.requests[i]
			ctx.Reset()
			if r.Match(ctx, req.Method, req.URL.Path) {
				r.ServeHTTP(&v.writer, req)
			} else {
				v.response.route = refused
			}
		}
	}, nil
}

func prepareChi(routes []route) func() (any, error) {
	paths := paths(routes, braces, alone)
	return func() (any, error) {
		return newChi(routes, paths, func(int) http.HandlerFunc { return func(http.ResponseWriter, *http.Request) {} }),
			nil
	}
}
