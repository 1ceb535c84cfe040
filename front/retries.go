package front

import (
	"cmp"

	"github.com/weirhq/weir/proxy"
)

// The values of the result label of retries.
const (
	retryAnswered = "answered"
	retryFailed   = "failed"
	retryDenied   = "denied"
)

// upstreamCounts implements stage.Counts for an upstream.
type upstreamCounts struct {
	metrics  *metrics
	upstream string
}

// Observe implements stage.Counts.
func (c upstreamCounts) Observe(x *proxy.Exchange, e proxy.Event) {
	switch e {
	case proxy.PassedOver:
		if failure, ok := x.Err.(*proxy.Error); ok {
			c.Failed(failure.Kind)
		}
	case proxy.Retrying:
		c.metrics.retrying(c.upstream, x)
	case proxy.Waiting:
		c.metrics.waits.WithLabelValues(c.upstream).Inc()
	}
}

// Failed implements stage.Counts.
func (c upstreamCounts) Failed(kind proxy.Kind) {
	c.metrics.failures.WithLabelValues(c.upstream, string(kind)).Inc()
}

// Retried implements stage.Counts.
func (c upstreamCounts) Retried(x *proxy.Exchange) { c.metrics.retried(c.upstream, x) }

// Waited implements stage.Counts.
func (c upstreamCounts) Waited(x *proxy.Exchange) {
	if x.Waited > 0 {
		observeWait(x.Server, x.Waited)
	}
}

// retrying counts the failure of a server after which the request is sent again. A stale
// connection is no failure.
func (m *metrics) retrying(upstream string, x *proxy.Exchange) {
	if failure, ok := x.Err.(*proxy.Error); ok && x.Retried != proxy.RetryStale {
		m.failures.WithLabelValues(upstream, string(failure.Kind)).Inc()
	}
	if x.Waited > 0 {
		observeWait(x.Server, x.Waited)
	}
}

// retried counts an exchange that has ended if its request was sent again, or was denied that.
func (m *metrics) retried(upstream string, x *proxy.Exchange) {
	var result string
	switch {
	case x.Retried == "" && x.RetryDenied == "":
		return
	case x.RetryDenied != "":
		result = retryDenied
	case x.Err != nil:
		result = retryFailed
	default:
		result = retryAnswered
	}
	why := cmp.Or(x.RetryDenied, x.Retried)
	m.retries.WithLabelValues(upstream, string(why), result).Inc()
}
