package upstream

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/health"
	"github.com/weirhq/weir/internal/proxying"
)

// A serverContext is the data of the front door about a server. A reload keeps it with the server.
type serverContext struct {
	durations prometheus.Observer
	health    health.State
	events    stateEvents
}

// contextOf returns the data about a server.
func contextOf(s *proxying.Server) *serverContext { return s.Context.(*serverContext) }

// healthOf returns the health of a server.
func healthOf(s *proxying.Server) *health.State { return &contextOf(s).health }
