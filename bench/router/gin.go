package router

import "github.com/gin-gonic/gin"

// newGin makes an engine without middleware that distinguishes a wrong method from a wrong path only if the set needs
// it.
func newGin(routes []route, paths []string, methods bool, handle func(i int) gin.HandlerFunc) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.HandleMethodNotAllowed = methods
	r.NoRoute(ginRefusing(notFound))
	r.NoMethod(ginRefusing(notAllowed))
	for i := range routes {
		r.Handle(routes[i].method, paths[i], handle(i))
	}
	return r
}

// ginRefusing responds only with the status: otherwise gin would write its own text.
func ginRefusing(why int) gin.HandlerFunc {
	return func(c *gin.Context) {
		responseOf(c.Request).route = why
		c.Writer.WriteHeaderNow()
	}
}

func openGin(s set) (visiting, error) { return serving(ginReading(s)), nil }

func openGinFresh(s set) (visiting, error) { return servingFresh(ginReading(s)), nil }

func ginReading(s set) *gin.Engine {
	return newGin(s.routes, paths(s.routes, colon, star), s.methods, func(i int) gin.HandlerFunc {
		params := s.routes[i].params
		return func(c *gin.Context) {
			a := responseOf(c.Request)
			a.route = i
			for k, name := range params {
				a.values[k] = c.Param(name)
			}
		}
	})
}

func prepareGin(routes []route) func() (any, error) {
	paths := paths(routes, colon, star)
	return func() (any, error) {
		return newGin(routes, paths, false, func(int) gin.HandlerFunc { return func(*gin.Context) {} }), nil
	}
}
