package front

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/traceid"
)

// An interest selects the requests that write all their events with log.events: interesting. Their first events are
// held as facts of the exchange, not as bytes: a request that is not interesting encodes one event.
type interest struct {
	held       *heldEvents
	slowerThan time.Duration  // 0 for the slowest percent of the route
	share      float64        // of the requests, from 0 to 1, that are interesting anyway
	trust      proxying.Trust // peers that decide whether a request is traced
}

func newInterest(cfg *config.Config, held *heldEvents) interest {
	return interest{
		held: held, slowerThan: cfg.Log.SlowerThan, trust: cfg.TrustedProxies,
		share: cfg.Log.Share / 100,
	}
}

// hold notes that an exchange has the facts of one more event.
func (i *interest) hold(x *exchange) {
	x.held++
	i.held.now.Add(1)
}

// release reports whether the held events of a request are to be written. The request has ended after took, with an event
// of the given severity.
func (i *interest) release(x *exchange, level log.Level, took time.Duration) (write bool) {
	i.held.now.Add(-int64(x.held))
	write = i.selects(x, level, took)
	if !write {
		i.held.discarded.Add(int64(x.held))
	}
	return write
}

// selects reports whether a request is interesting. The end of a tunnel is its client's decision, so that no tunnel is
// slow. A refusal by a limit is not interesting, because a flood of them must not write more than other requests.
func (i *interest) selects(x *exchange, level log.Level, took time.Duration) bool {
	slow := false
	switch {
	case x.Upgraded:
	case i.slowerThan > 0:
		slow = took > i.slowerThan
	case x.route != nil:
		slow = x.route.counts.Slowest.Add(took)
	}
	switch {
	case x.Limit != "" && x.Server == nil:
		return false
	case slow, level >= log.LevelWarn, x.Status >= 500:
		return true
	case x.trace.sampled && i.trust.Trusts(x.Peer):
		return true
	}
	return i.share > 0 && traceid.Fraction(x.trace.w3c()) < i.share
}

// heldEvents count the events that are held or were discarded.
type heldEvents struct{ now, discarded atomic.Int64 }

var (
	eventsHeld = prometheus.NewDesc("weir_log_events_held",
		"Events of requests in progress that are written if the request becomes interesting.", nil, nil)
	eventsDiscarded = prometheus.NewDesc("weir_log_events_discarded_total",
		"Held events that were not written, because their request was not interesting.", nil, nil)
)

// Describe implements prometheus.Collector.
func (h *heldEvents) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(h, ch) }

// Collect implements prometheus.Collector.
func (h *heldEvents) Collect(metrics chan<- prometheus.Metric) {
	ch := metric.Sink(metrics)
	ch.Gauge(eventsHeld, float64(h.now.Load()))
	ch.Counter(eventsDiscarded, float64(h.discarded.Load()))
}
