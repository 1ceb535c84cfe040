package stage

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/log"
)

// A Door has the parts that the features of all routes share. It outlives reloads.
type Door struct {
	Metrics prometheus.Registerer
	Log     func() *log.Logger // of the configuration in use

	// Refused returns the counter of the requests that a feature has refused on a route, and
	// Limited the counter of the requests that a limit has refused.
	Refused func(by, route string) prometheus.Counter
	Limited func(limit, route string) prometheus.Counter
}

// A Route describes a route to the feature that makes a stage or an action for it.
type Route struct {
	*Door
	Label string // in the log and in the metrics
	Match string // its pattern

	Upstreams map[string]*Upstream // of the configuration, by name

	// Forward forwards a request to an upstream, with the settings of the route.
	Forward func(x *Exchange, to *Upstream)
}

// Upstream returns an upstream by its name.
func (r *Route) Upstream(name string) (*Upstream, error) {
	if up := r.Upstreams[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("there is no upstream %q", name)
}
