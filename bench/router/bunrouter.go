package router

import (
	"net/http"

	"github.com/uptrace/bunrouter"
)

// newBunrouter responds to a wrong method without Allow, which is bunrouter's default.
func newBunrouter(routes []route, paths []string, handle func(i int) bunrouter.HandlerFunc) *bunrouter.Router {
	r := bunrouter.New(
		bunrouter.WithNotFoundHandler(func(_ http.ResponseWriter, req bunrouter.Request) error {
			responseOf(req.Request).route = notFound
			return nil
		}),
		bunrouter.WithMethodNotAllowedHandler(func(_ http.ResponseWriter, req bunrouter.Request) error {
			responseOf(req.Request).route = notAllowed
			return nil
		}),
	)
	for i := range routes {
		r.Handle(routes[i].method, paths[i], handle(i))
	}
	return r
}

func openBunrouter(s set) (visiting, error) {
	return serving(newBunrouter(s.routes, paths(s.routes, colon, star), func(i int) bunrouter.HandlerFunc {
		params := s.routes[i].params
		return func(_ http.ResponseWriter, req bunrouter.Request) error {
			a := responseOf(req.Request)
			a.route = i
			for k, name := range params {
				a.values[k] = req.Param(name)
			}
			return nil
		}
	})), nil
}

func openBunrouterStandard(s set) (visiting, error) {
	return servingFresh(newBunrouter(s.routes, paths(s.routes, colon, star), func(i int) bunrouter.HandlerFunc {
		params := s.routes[i].params
		return bunrouter.HTTPHandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			a := responseOf(req)
			a.route = i
			if len(params) == 0 {
				return
			}
			ps := bunrouter.ParamsFromContext(req.Context())
			for k, name := range params {
				a.values[k] = ps.ByName(name)
			}
		})
	})), nil
}
