package router

import (
	"net/http"

	"github.com/nbari/violetear"
)

// openVioletear is only for constrained parameters, because violetear has no others.
func openVioletear(s set) (visiting, error) {
	r := violetear.New()
	r.Verbose = false
	r.NotFoundHandler = http.HandlerFunc(func(_ http.ResponseWriter,
		req *http.Request) {
		responseOf(req).route = notFound
	})
	for name, expression := range expressions {
		if err := r.AddRegex(":"+name, "^"+expression+"$"); err != nil {
			return nil, err
		}
	}
	for i, path := range paths(s.routes, colon, star) {
		params := s.routes[i].params
		r.HandleFunc(path, func(_ http.ResponseWriter, req *http.Request) {
			a := responseOf(req)
			a.route = i
			for k, name := range params {
				a.values[k] = violetear.GetParam(name, req)
			}
		}, s.routes[i].method)
	}
	return serving(r), r.GetError()
}
