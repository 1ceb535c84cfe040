package router

import (
	"net/http"

	"github.com/julienschmidt/httprouter"
)

// newHTTPRouter only disables the case-insensitive search, which would slow down "not found".
func newHTTPRouter(routes []route, paths []string, handle func(i int) httprouter.Handle) *httprouter.Router {
	r := httprouter.New()
	r.RedirectFixedPath = false
	r.NotFound = http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { responseOf(req).route = notFound })
	r.MethodNotAllowed = http.HandlerFunc(func(_ http.ResponseWriter,
		req *http.Request) {
		responseOf(req).route = notAllowed
	})
	for i := range routes {
		r.Handle(routes[i].method, paths[i], handle(i))
	}
	return r
}

func httprouterReading(s set) *httprouter.Router {
	return newHTTPRouter(s.routes, paths(s.routes, colon, star), func(i int) httprouter.Handle {
		params := s.routes[i].params
		return func(_ http.ResponseWriter, req *http.Request, ps httprouter.Params) {
			a := responseOf(req)
			a.route = i
			for k, name := range params {
				a.values[k] = ps.ByName(name)
			}
		}
	})
}

func openHTTPRouter(s set) (visiting, error) { return serving(httprouterReading(s)), nil }

// openHTTPRouterStandard uses the router's Handler method for an http.Handler: the parameters are stored in the
// context.
func openHTTPRouterStandard(s set) (visiting, error) {
	r := httprouter.New()
	for i, path := range paths(s.routes, colon, star) {
		params := s.routes[i].params
		r.HandlerFunc(s.routes[i].method, path, func(_ http.ResponseWriter, req *http.Request) {
			a := responseOf(req)
			a.route = i
			if len(params) == 0 {
				return
			}
			ps := httprouter.ParamsFromContext(req.Context())
			for k, name := range params {
				a.values[k] = ps.ByName(name)
			}
		})
	}
	return servingFresh(r), nil
}

func lookupHTTPRouter(s set) (visiting, error) {
	r := httprouterReading(s)
	return func(v *visitor) func(int) {
		return func(i int) {
			req := v.requests[i]
			if handle, ps, _ := r.Lookup(req.Method, req.URL.Path); handle != nil {
				handle(&v.writer, req, ps)
			} else {
				v.response.route = refused
			}
		}
	}, nil
}

func prepareHTTPRouter(routes []route) func() (any, error) {
	paths := paths(routes, colon, star)
	return func() (any, error) {
		return newHTTPRouter(routes, paths, func(int) httprouter.Handle {
			return func(http.ResponseWriter, *http.Request, httprouter.Params) {}
		}), nil
	}
}
