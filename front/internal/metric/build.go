package metric

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/internal/version"
)

// NewBuildInfo returns a metric that is always 1 and whose labels describe the
// build. A label is empty if the build does not record its value.
func NewBuildInfo() prometheus.Collector {
	build := version.Get()
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "weir_build_info",
		Help:        "Always 1. The labels are the version of Weir, its commit and the version of Go.",
		ConstLabels: prometheus.Labels{"version": build.Version, "commit": build.Commit, "go": build.Go},
	})
	g.Set(1)
	return g
}
