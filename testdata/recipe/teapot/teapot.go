// Package teapot refuses requests that a teapot cannot serve: the key teapot. It is the feature with which
// TestRecipeMakesAFeature follows the recipe in docs/architecture.md.
package teapot

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/stage"
)

// A teapot is a stage that refuses requests with some methods.
type teapot struct {
	*Config
	refused prometheus.Counter
}

// Stage returns the stage of a route, or nil.
func Stage(c *Config, r *stage.Route) (stage.Stage, error) {
	if c == nil {
		return nil, nil
	}
	return &teapot{c, r.Refused("teapot", r.Label)}, nil
}

// Apply implements stage.Stage.
func (t *teapot) Apply(x *stage.Exchange) (responded bool) {
	if x.Method != t.Method {
		return false
	}
	t.refused.Inc()
	x.Refuse(418, "teapot: it makes no coffee")
	return true
}

// Explain implements stage.Explainer.
func (t *teapot) Explain(x *stage.Exchange) (steps []string, ends bool) {
	if x.Method != t.Method {
		return nil, false
	}
	return []string{"refuses to make coffee"}, true
}
