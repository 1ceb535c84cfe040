package front

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/front/internal/sharing"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/log"
)

// The events of a store of shared limits.
const (
	eventStoreFailing   = "store of shared limits fails"
	eventStoreRecovered = "store of shared limits recovered"
)

// logStore logs that the store of shared limits has begun or ceased to fail.
func logStore(l *log.Logger, store string, c lease.Condition) {
	if c.Failing {
		l.Warn(eventStoreFailing).Str("store", store).Err(c.Err).Send()
		return
	}
	l.Info(eventStoreRecovered).Str("store", store).Dur("after", c.Lasted).Send()
}

// sharedCollector collects the counts of the stores of shared limits.
type sharedCollector struct{ stores *sharing.Stores }

var (
	sharedUp = prometheus.NewDesc("weir_shared_limits_up",
		"1 if all calls to the store of shared limits in the last two seconds succeeded, else 0.", []string{"store"}, nil)
	sharedReplicas = prometheus.NewDesc("weir_shared_limits_replicas",
		"Replicas that share limits by the store.", []string{"store"}, nil)
	sharedExchanges = prometheus.NewDesc("weir_shared_limits_exchanges_total",
		"Exchanges of tokens with the store, one for a client or route, by result.", []string{"store", "result"}, nil)
	sharedCalls = prometheus.NewDesc("weir_shared_limits_calls_total",
		"Calls to the store, each with many exchanges.", []string{"store"}, nil)
	sharedSeconds = prometheus.NewDesc("weir_shared_limits_call_seconds_total",
		"The time that these calls took.", []string{"store"}, nil)
	sharedTokens = prometheus.NewDesc("weir_shared_limits_tokens_total",
		"Tokens for requests: taken from the store, or granted by this replica while it waited for the store.",
		[]string{"store", "from"}, nil)
)

// Describe implements prometheus.Collector.
func (c sharedCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c sharedCollector) Collect(metrics chan<- prometheus.Metric) {
	ch := metric.Sink(metrics)
	c.stores.Each(func(store string, s lease.Stats) {
		ch.Condition(sharedUp, !s.Failing, store)
		ch.Gauge(sharedReplicas, float64(s.Replicas), store)
		ch.Counter(sharedExchanges, float64(s.OK), store, "ok")
		ch.Counter(sharedExchanges, float64(s.Failed), store, "failed")
		ch.Counter(sharedCalls, float64(s.Calls), store)
		ch.Counter(sharedSeconds, s.Waited.Seconds(), store)
		ch.Counter(sharedTokens, float64(s.Taken), store, "store")
		ch.Counter(sharedTokens, float64(s.GrantedItself), store, "replica")
	})
}
