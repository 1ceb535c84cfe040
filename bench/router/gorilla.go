package router

import (
	"net/http"

	"github.com/gorilla/mux"
)

// gorillaReading tries the routes one by one, so it is not used for the large sets.
func gorillaReading(s set) *mux.Router {
	r := mux.NewRouter()
	for i, path := range paths(s.routes, s.braced, func(name string) string { return "{" + name + ":.*}" }) {
		params := s.routes[i].params
		r.HandleFunc(path, func(_ http.ResponseWriter, req *http.Request) {
			a := responseOf(req)
			a.route = i
			vars := mux.Vars(req)
			for k, name := range params {
				a.values[k] = vars[name]
			}
		}).Methods(s.routes[i].method)
	}
	return r
}

func openGorilla(s set) (visiting, error) { return serving(gorillaReading(s)), nil }

func lookupGorilla(s set) (visiting, error) {
	r := gorillaReading(s)
	return func(v *visitor) func(int) {
		return func(i int) {
			var match mux.RouteMatch
			if r.Match(v.requests[i], &match) {
				r.ServeHTTP(&v.writer, v.requests[i])
			} else {
				v.response.route = refused
			}
		}
	}, nil
}
