package upstream

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/internal/proxying"
)

// Metrics count the exchanges with upstreams, and what happens to their servers.
type Metrics struct {
	durations *prometheus.HistogramVec // of requests, by server
	ended     *prometheus.CounterVec   // requests, by class of the status
	failures  *prometheus.CounterVec
	waits     *prometheus.CounterVec // for a connection
	retries   *prometheus.CounterVec

	resolutions *prometheus.CounterVec // of names, by result
	lists       *prometheus.CounterVec // updates of the lists of servers, by result
	checks      *prometheus.CounterVec // of the health of servers, by result
	outliers    *prometheus.CounterVec // by reason and result
}

// NewMetrics returns metrics, and adds them to a registry.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		durations: metric.NewDurations("weir_upstream_duration_seconds",
			"Time that a server took for a request: until the response's head, plus the waits for the body.",
			"upstream", "server"),
		ended: metric.NewCounters("weir_upstream_requests_total",
			"Requests of routes that lead to an upstream, by class of the status that the client got.", "upstream", "class"),
		failures: metric.NewCounters("weir_upstream_errors_total",
			"Failures of an upstream's servers, by kind. Includes failures after which another server was tried.",
			"upstream", "kind"),
		waits: metric.NewCounters("weir_upstream_waits_total",
			"Requests that waited because no server of the upstream accepted a connection.", "upstream"),
		retries: metric.NewCounters("weir_upstream_retries_total",
			"Requests sent again to an upstream, or denied that by its budget, by the last reason and the result.",
			"upstream", "reason", "result"),
		resolutions: metric.NewCounters("weir_upstream_resolutions_total",
			"Resolutions of host names of an upstream's servers, by result.", "upstream", "result"),
		lists: metric.NewCounters("weir_upstream_list_updates_total",
			"Changes of the list of an upstream's servers outside of the configuration, by result.", "upstream", "result"),
		checks: metric.NewCounters("weir_upstream_checks_total",
			"Health checks of the servers of an upstream, by result.", "upstream", "result"),
		outliers: metric.NewCounters("weir_upstream_outliers_total",
			"Outliers among the servers of an upstream, by reason; they are ejected, or kept because too many are.",
			"upstream", "reason", "result"),
	}
	r.MustRegister(m.durations, m.ended, m.failures, m.waits, m.retries, m.resolutions, m.lists, m.checks, m.outliers)
	return m
}

// prepare returns a function that gives each server of an upstream its context, with the histogram of its durations.
func (m *Metrics) prepare(upstream string) func(*proxying.Server) {
	return func(s *proxying.Server) {
		s.Context = &serverContext{durations: m.durations.WithLabelValues(upstream, s.URL())}
	}
}

// forgetServers removes the histograms of the servers of an upstream that are in before but not in now.
// Otherwise deployments that use a new port each time would add series forever.
func (m *Metrics) forgetServers(upstream string, before, now []*proxying.Server) {
	used := make(map[string]bool)
	for _, s := range now {
		used[s.URL()] = true
	}
	for _, s := range before {
		if !used[s.URL()] {
			m.durations.DeleteLabelValues(upstream, s.URL())
		}
	}
}
