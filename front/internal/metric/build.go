package metric

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

const modulePath = "github.com/weirhq/weir"

// NewBuildInfo returns a metric that is always 1 and whose labels describe the
// build. A label is empty if the build does not record its value.
func NewBuildInfo() prometheus.Collector {
	version, revision, goVersion := build()
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "weir_build_info",
		Help:        "Always 1. The labels are the version of Weir, its commit and the version of Go.",
		ConstLabels: prometheus.Labels{"version": version, "revision": revision, "goversion": goVersion},
	})
	g.Set(1)
	return g
}

// build returns the version of this module and of Go. The revision is known only if
// this module is the main module of the program.
func build() (version, revision, goVersion string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", ""
	}
	for _, m := range info.Deps {
		if m.Path == modulePath {
			return m.Version, "", info.GoVersion
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return info.Main.Version, revision, info.GoVersion
}
