package upstream

import (
	"cmp"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/internal/proxying"
)

// Counts count exchanges with one upstream. They implement stage.Counts.
type Counts struct {
	metrics  *Metrics
	upstream string
	ended    [classes]prometheus.Counter // by the first digit of the status, less one
}

// classes is the number of classes of statuses, from 1xx to 5xx.
const classes = 5

func newCounts(m *Metrics, upstream string) *Counts {
	c := &Counts{metrics: m, upstream: upstream}
	for i := range c.ended {
		c.ended[i] = m.ended.WithLabelValues(upstream, strconv.Itoa(i+1)+"xx")
	}
	return c
}

// Ended implements stage.Counts.
func (c *Counts) Ended(x *proxying.Exchange) {
	if class := x.Status/100 - 1; class >= 0 && class < classes {
		c.ended[class].Inc()
	}
}

// Observe implements stage.Counts.
func (c *Counts) Observe(x *proxying.Exchange, e proxying.Event) {
	switch e {
	case proxying.PassedOver:
		if failure, ok := x.Err.(*proxying.Error); ok {
			c.Failed(failure.Kind)
		}
	case proxying.Retrying:
		c.retrying(x)
	case proxying.Waiting:
		c.metrics.waits.WithLabelValues(c.upstream).Inc()
	}
}

// Failed implements stage.Counts.
func (c *Counts) Failed(kind proxying.Kind) {
	c.metrics.failures.WithLabelValues(c.upstream, string(kind)).Inc()
}

// Waited implements stage.Counts.
func (c *Counts) Waited(x *proxying.Exchange) {
	if x.Waited > 0 {
		contextOf(x.Server).durations.Observe(x.Waited.Seconds())
	}
}

// retrying counts the failure of a server after which the request is sent again. A stale
// connection is no failure.
func (c *Counts) retrying(x *proxying.Exchange) {
	if failure, ok := x.Err.(*proxying.Error); ok && x.Retried != proxying.RetryStale {
		c.Failed(failure.Kind)
	}
	c.Waited(x)
}

// The values of the result label of retries.
const (
	retryAnswered = "answered"
	retryFailed   = "failed"
	retryDenied   = "denied"
)

// Retried implements stage.Counts. It also counts a request that was denied another try.
func (c *Counts) Retried(x *proxying.Exchange) {
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
	c.metrics.retries.WithLabelValues(c.upstream, string(why), result).Inc()
}
