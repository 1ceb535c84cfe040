package upstream

import (
	"regexp"

	"github.com/weirhq/weir/front/internal/health"
	"github.com/weirhq/weir/front/upstreams"
)

// checkOf returns the health check of a configuration, or nil.
func checkOf(c *upstreams.Health) *health.Check {
	if c == nil {
		return nil
	}
	check := &health.Check{
		Method: c.Method, Path: c.Path, Host: c.Host, Interval: c.Interval, Timeout: c.Timeout,
		Statuses: c.Status, Rise: c.Rise, Fall: c.Fall,
	}
	if c.Body != "" {
		check.Body = regexp.MustCompile(c.Body) // the configuration is checked
	}
	return check
}

// outliersOf returns the passive health checks of a configuration, or nil.
func outliersOf(c *upstreams.Outliers) *health.Outliers {
	if c == nil {
		return nil
	}
	return &health.Outliers{
		Consecutive: c.Consecutive, FailureRate: float64(c.FailureRate) / 100, Latency: c.Latency,
		Interval: c.Interval, Requests: c.Requests, Ejection: c.Ejection, MaxEjection: c.MaxEjection,
		Statuses: c.Status,
	}
}
