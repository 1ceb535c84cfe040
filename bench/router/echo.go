package router

import (
	"errors"

	"github.com/labstack/echo/v4"
)

func newEcho(routes []route, paths []string, handle func(i int) echo.HandlerFunc) *echo.Echo {
	r := echo.New()
	r.HTTPErrorHandler = func(err error, c echo.Context) { responseOf(c.Request()).route = echoRefusal(err) }
	for i := range routes {
		r.Add(routes[i].method, paths[i], handle(i))
	}
	return r
}

func echoRefusal(err error) int {
	if errors.Is(err, echo.ErrMethodNotAllowed) {
		return notAllowed
	}
	return notFound
}

// echoReading reads the parameters. Echo calls the rest of a path "*".
func echoReading(s set) *echo.Echo {
	return newEcho(s.routes, paths(s.routes, colon, alone), func(i int) echo.HandlerFunc {
		keys := append([]string(nil), s.routes[i].params...)
		s.routes[i].rewrite(colon, func(string) string { keys[len(keys)-1] = "*"; return "" })
		return func(c echo.Context) error {
			a := responseOf(c.Request())
			a.route = i
			for k, key := range keys {
				a.values[k] = c.Param(key)
			}
			return nil
		}
	})
}

func openEcho(s set) (visiting, error) { return serving(echoReading(s)), nil }

func lookupEcho(s set) (visiting, error) {
	r := echoReading(s)
	return func(v *visitor) func(int) {
		c := r.NewContext(nil, nil)
		return func(i int) {
			req := v.requests[i]
			c.Reset(req, &v.writer)
			r.Router().Find(req.Method, req.URL.Path, c)
			if err := c.Handler()(c); err != nil {
				v.response.route = echoRefusal(err)
			}
		}
	}, nil
}

func prepareEcho(routes []route) func() (any, error) {
	paths := paths(routes, colon, alone)
	return func() (any, error) {
		return newEcho(routes, paths, func(int) echo.HandlerFunc { return func(echo.Context) error { return nil } }),
			nil
	}
}
