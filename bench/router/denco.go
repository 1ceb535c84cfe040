package router

import "github.com/go-openapi/runtime/middleware/denco"

// newDenco makes a router for each method, like denco's own Mux. The module is go-openapi's copy of
// github.com/naoina/denco, which is maintained.
func newDenco(routes []route, paths []string, value func(i int) any) (map[string]*denco.Router, error) {
	records := map[string][]denco.Record{}
	for i, r := range routes {
		records[r.method] = append(records[r.method], denco.NewRecord(paths[i], value(i)))
	}
	routers := map[string]*denco.Router{}
	for method, list := range records {
		routers[method] = denco.New()
		if err := routers[method].Build(list); err != nil {
			return nil, err
		}
	}
	return routers, nil
}

func openDenco(s set) (visiting, error) {
	routers, err := newDenco(s.routes, paths(s.routes, colon, star), func(i int) any { return i })
	return func(v *visitor) func(int) {
		return func(i int) {
			req := v.requests[i]
			router := routers[req.Method]
			if router == nil {
				v.response.route = notFound
				return
			}
			data, ps, found := router.Lookup(req.URL.Path)
			if !found {
				v.response.route = notFound
				return
			}
			v.response.route = data.(int)
			for k, name := range s.routes[v.response.route].params {
				v.response.values[k] = ps.Get(name)
			}
		}
	}, err
}

func prepareDenco(routes []route) func() (any, error) {
	paths := paths(routes, colon, star)
	return func() (any, error) { return newDenco(routes, paths, func(i int) any { return i }) }
}
