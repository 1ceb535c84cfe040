package router

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/julienschmidt/httprouter"
	"github.com/uptrace/bunrouter"
)

// silent is a ResponseWriter that nobody reads: what is measured is the way to the handler.
type silent struct{ header http.Header }

func (w *silent) Header() http.Header         { return w.header }
func (w *silent) Write(b []byte) (int, error) { return len(b), nil }
func (w *silent) WriteHeader(int)             {}

// serving asks h for the set's requests.
func serving(h http.Handler, s set) func(int) {
	w := &silent{header: http.Header{}}
	return func(i int) { h.ServeHTTP(w, s.requests[i]) }
}

// openHTTPRouter leaves out only the search for a path in other letter case, which would slow its "not found" down.
func openHTTPRouter(s set, a *answer) (func(int), error) {
	r := httprouter.New()
	r.RedirectFixedPath = false
	r.NotFound = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { a.route = notFound })
	for i, route := range s.routes {
		r.Handle(route.method, route.colons(), func(_ http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
			a.route = i
			for k, name := range route.params {
				a.values[k] = ps.ByName(name)
			}
		})
	}
	return serving(r, s), nil
}

func openBunrouter(s set, a *answer) (func(int), error) {
	r := bunrouter.New(bunrouter.WithNotFoundHandler(func(http.ResponseWriter, bunrouter.Request) error {
		a.route = notFound
		return nil
	}))
	for i, route := range s.routes {
		r.Handle(route.method, route.colons(), func(_ http.ResponseWriter, req bunrouter.Request) error {
			a.route = i
			for k, name := range route.params {
				a.values[k] = req.Param(name)
			}
			return nil
		})
	}
	return serving(r, s), nil
}

// chiRules are the constraints as chi has them: an expression in the pattern.
var chiRules = map[string]string{
	"id":   `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`,
	"addr": `(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])`,
}

func openChi(s set, a *answer) (func(int), error) {
	r := chi.NewRouter()
	r.NotFound(func(http.ResponseWriter, *http.Request) { a.route = notFound })
	segment := func(name string) string {
		if s.constrained {
			return "{" + name + ":" + chiRules[name] + "}"
		}
		return "{" + name + "}"
	}
	for i, route := range s.routes {
		keys := make([]string, len(route.params)) // chi calls a rest "*"
		copy(keys, route.params)
		path := route.rewrite(segment, func(string) string {
			keys[len(keys)-1] = "*"
			return "*"
		})
		r.MethodFunc(route.method, path, func(_ http.ResponseWriter, req *http.Request) {
			a.route = i
			for k, key := range keys {
				a.values[k] = chi.URLParam(req, key)
			}
		})
	}
	return serving(r, s), nil
}

// openServeMux answers what no route matches in a pattern of its own: net/http has no other way to replace its 404.
func openServeMux(s set, a *answer) (func(int), error) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { a.route = notFound })
	for i, route := range s.routes {
		mux.HandleFunc(route.method+" "+route.path, readPathValues(i, route, a))
	}
	return serving(mux, s), nil
}

// readPathValues is the handler of those that leave the parameters in the request.
func readPathValues(i int, route route, a *answer) http.HandlerFunc {
	return func(_ http.ResponseWriter, req *http.Request) {
		a.route = i
		for k, name := range route.params {
			a.values[k] = req.PathValue(name)
		}
	}
}
