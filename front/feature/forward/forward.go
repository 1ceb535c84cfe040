// Package forward forwards the requests of a route to one upstream: the key to.
package forward

import (
	"github.com/weirhq/weir/front/stage"
)

// Action returns the action of a route that forwards to an upstream.
func Action(name string, r *stage.Route) (stage.Action, error) {
	to, err := r.Upstream(name)
	if err != nil {
		return nil, err
	}
	return &action{r.Forward, to}, nil
}

// An action forwards requests.
type action struct {
	forward func(x *stage.Exchange, to *stage.Upstream)
	to      *stage.Upstream
}

// Respond implements stage.Action.
func (a *action) Respond(x *stage.Exchange) { a.forward(x, a.to) }

// Explain implements stage.Explainer.
func (a *action) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{"forwards to the " + a.to.About}, true
}
