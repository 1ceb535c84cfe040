package router

import (
	"net/http"

	"github.com/tigerwill90/fox"
)

// newFox makes a router that distinguishes a wrong method from a wrong path only if the set needs it.
func newFox(routes []route, paths []string, methods bool, handle func(i int) fox.HandlerFunc) (*fox.Router, error) {
	options := []fox.GlobalOption{
		fox.AllowRegexpParam(true),
		fox.WithNoRouteHandler(func(c *fox.Context) { responseOf(c.Request()).route = notFound }),
	}
	if methods {
		options = append(options,
			fox.WithNoMethodHandler(func(c *fox.Context) { responseOf(c.Request()).route = notAllowed }))
	}
	r, err := fox.NewRouter(options...)
	if err != nil {
		return nil, err
	}
	for i := range routes {
		if _, err := r.Add([]string{routes[i].method}, paths[i], handle(i)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func foxRest(name string) string { return "*{" + name + "}" }

func foxReading(s set) (*fox.Router, error) {
	return newFox(s.routes, paths(s.routes, s.braced, foxRest), s.methods, func(i int) fox.HandlerFunc {
		params := s.routes[i].params
		return func(c *fox.Context) {
			a := responseOf(c.Request())
			a.route = i
			for k, name := range params {
				a.values[k] = c.Param(name)
			}
		}
	})
}

func openFox(s set) (visiting, error) {
	r, err := foxReading(s)
	return serving(r), err
}

func openFoxStandard(s set) (visiting, error) {
	r, err := newFox(s.routes, paths(s.routes, s.braced, foxRest), s.methods, func(i int) fox.HandlerFunc {
		params := s.routes[i].params
		return fox.WrapF(func(_ http.ResponseWriter, req *http.Request) {
			a := responseOf(req)
			a.route = i
			if len(params) == 0 {
				return
			}
			ps := fox.ParamsFromContext(req.Context())
			for k, name := range params {
				a.values[k] = ps.Get(name)
			}
		})
	})
	return servingFresh(r), err
}

func lookupFox(s set) (visiting, error) {
	r, err := foxReading(s)
	return func(v *visitor) func(int) {
		return func(i int) {
			req := v.requests[i]
			if route, tsr := r.Match(req.Method, req); route != nil && !tsr {
				r.ServeHTTP(&v.writer, req)
			} else {
				v.response.route = refused
			}
		}
	}, err
}

func prepareFox(routes []route) func() (any, error) {
	paths := paths(routes, braces, foxRest)
	return func() (any, error) {
		return newFox(routes, paths, false, func(int) fox.HandlerFunc { return func(*fox.Context) {} })
	}
}
