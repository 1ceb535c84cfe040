package dashboard

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// families are the metrics of one scrape by name. They are in the order of their labels.
type families map[string][]*dto.Metric

// gather collects all metrics. A metric that cannot be collected is missing, as in a scrape.
func gather(from prometheus.Gatherer) families {
	all, _ := from.Gather()
	f := make(families, len(all))
	for _, family := range all {
		f[family.GetName()] = family.GetMetric()
	}
	return f
}

// sum returns the sum of the values of a counter or a gauge over all labels.
func (f families) sum(name string) (sum float64) {
	for _, m := range f[name] {
		sum += value(m)
	}
	return sum
}

// times returns Unix times by the value of a label. A time of 0 is missing.
func (f families) times(name, by string) map[string]time.Time {
	times := make(map[string]time.Time)
	for _, m := range f[name] {
		if v := value(m); v > 0 {
			times[label(m, by)] = unix(v)
		}
	}
	return times
}

func unix(seconds float64) time.Time {
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}

// value returns the value of a counter or a gauge.
func value(m *dto.Metric) float64 {
	if c := m.GetCounter(); c != nil {
		return c.GetValue()
	}
	return m.GetGauge().GetValue()
}

// label returns the value of a label, or "".
func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// buckets returns the requests in each bucket of a histogram. The last one has those above all bounds.
func buckets(h *dto.Histogram) []float64 {
	counts := make([]float64, 0, len(h.GetBucket())+1)
	before := uint64(0)
	for _, b := range h.GetBucket() {
		counts = append(counts, float64(b.GetCumulativeCount()-before))
		before = b.GetCumulativeCount()
	}
	return append(counts, float64(h.GetSampleCount()-before))
}

// bounds returns the upper bounds of all buckets but the last.
func bounds(h *dto.Histogram) (upper []float64) {
	for _, b := range h.GetBucket() {
		upper = append(upper, b.GetUpperBound())
	}
	return upper
}
