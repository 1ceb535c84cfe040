package front

import (
	"net/http"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/router"
)

// restricts reports whether a route keeps clients from a part of an upstream: by access rules,
// authentication, or a fixed response with an error.
func restricts(r *config.Route) bool {
	return len(r.Access) > 0 || r.BasicAuth != nil || r.ForwardAuth != nil ||
		r.Respond != nil && r.Respond.Status >= http.StatusBadRequest && r.Respond.Status < http.StatusInternalServerError
}

// checkSpelling returns the status and the reason of a refusal if the path of a request is
// another spelling of one that a different route restricts, such as "//admin" of "/admin".
// Otherwise the request could evade the restriction, because many upstreams do not distinguish
// the two. It returns 0 if there is no such route.
func (t *tables) checkSpelling(x *exchange) (status int, why string) {
	if !t.restricted || x.found == nil || x.Preflight {
		return 0, ""
	}
	for _, path := range target.Readings(x.Path) {
		var params router.Params
		if r, _ := t.find(x.Exchange, x.Method, path, &params); r != nil && r != x.found && r.restricts {
			return http.StatusBadRequest, "the path is another spelling of a restricted one"
		}
	}
	return 0, ""
}
