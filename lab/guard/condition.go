package guard

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// A Condition is a difference that a change must not exceed.
type Condition struct {
	Metric string  // "CPU per request"
	Bound  float64 // 0.05 for 5%, of the base's value or, if the metric is a share, of all requests
	metric metric
}

// A metric is a value of a run that a condition is about.
type metric struct {
	name    string
	lab     string // its name in results.Metrics, if it has one
	latency bool
	share   bool // it is a share of all requests: the difference, not the ratio, is compared
}

var metrics = []metric{
	{name: "CPU per request", lab: "CPU per request"},
	{name: results.InstructionsPerRequest, lab: results.InstructionsPerRequest},
	{name: "p50", lab: "latency p50", latency: true},
	{name: "p99", lab: "latency p99", latency: true},
	{name: "memory", lab: "memory, peak"},
	{name: "failed requests", share: true},
}

// Metrics returns the metrics of conditions.
func Metrics() []string {
	var names []string
	for _, m := range metrics {
		names = append(names, m.name)
	}
	return names
}

// ParseCondition reads a condition: "CPU per request > 5%".
func ParseCondition(text string) (Condition, error) {
	name, limit, ok := strings.Cut(text, ">")
	name = strings.TrimSpace(name)
	if !ok {
		return Condition{}, fmt.Errorf("%q is not METRIC > BOUND, as in: CPU per request > 5%%", text)
	}
	i := slices.IndexFunc(metrics, func(m metric) bool { return strings.EqualFold(m.name, name) })
	if i < 0 {
		hint := "the metrics are " + strings.Join(Metrics(), ", ")
		if near := nearest.Guess(name, Metrics()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return Condition{}, fmt.Errorf("%q: no metric is called %q; %s", text, name, hint)
	}
	number, isPercent := strings.CutSuffix(strings.TrimSpace(limit), "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	c := Condition{Metric: metrics[i].name, Bound: percent / 100, metric: metrics[i]}
	switch {
	case err != nil || !isPercent || math.IsNaN(percent) || percent < 0 || percent > 1e6:
		return Condition{}, fmt.Errorf("%q: the bound is not a percentage, as in: %s > 5%%", text, c.Metric)
	case c.metric.share && (percent == 0 || percent > 100):
		return Condition{}, fmt.Errorf("%q: the bound of a share is above 0%% and at most 100%%", text)
	}
	return c, nil
}

func (c Condition) String() string { return fmt.Sprintf("%s > %.6g%%", c.Metric, 100*c.Bound) }

// IsShare reports whether the metric is a share of all requests. Shares are
// compared by their difference, and other metrics by their ratio.
func (c Condition) IsShare() bool { return c.metric.share }

// center returns the bound as a difference.
func (c Condition) center() float64 {
	if c.metric.share {
		return c.Bound
	}
	return math.Log1p(c.Bound)
}

// of returns the value of a run, or NaN if it has none: more than 1% of its
// requests had no response, and a value per response would be too high.
func (c Condition) of(r *results.Run) float64 {
	if c.metric.share {
		if r.Load == nil || r.Load.Sent == 0 {
			return math.NaN()
		}
		return float64(r.Load.Without2xx()) / float64(r.Load.Sent)
	}
	all := results.Metrics()
	m := all[slices.IndexFunc(all, func(m results.Metric) bool { return m.Name == c.metric.lab })]
	if value, ok := m.Of(r); ok {
		return value
	}
	return math.NaN()
}

// Difference returns the difference of a block, the mean of those of its pairs:
// the logarithm of the ratio, or the difference of the shares. A change without
// a value is worse than any.
func (c Condition) Difference(b Block) float64 {
	sum := 0.0
	for _, p := range b.Pairs {
		sum += c.difference(p)
	}
	return sum / float64(len(b.Pairs))
}

func (c Condition) difference(p Pair) float64 {
	base, change := c.of(p.Base), c.of(p.Change)
	switch {
	case math.IsNaN(change):
		return math.Inf(1)
	case c.metric.share:
		return change - base
	case base == change: // also if both are 0
		return 0
	}
	return math.Log(change / base)
}

// Quantity formats a value of the metric.
func (c Condition) Quantity(value float64) string {
	if c.metric.share {
		return percent(value)
	}
	all := results.Metrics()
	i := slices.IndexFunc(all, func(m results.Metric) bool { return m.Name == c.metric.lab })
	return analysis.Quantity(value, all[i].Unit)
}

// Show formats a difference of the metric: "+3.1%", or "+0.2 points" of a share.
func (c Condition) Show(difference float64) string {
	percent, digits, unit := 100*math.Expm1(difference), 1, "%"
	if c.metric.share {
		percent, digits, unit = 100*difference, 2, " points"
	}
	switch {
	case math.IsInf(difference, 1):
		return "without a limit"
	case math.IsInf(difference, -1):
		return "any less"
	}
	text := fmt.Sprintf("%+.*f", digits, percent)
	if strings.Trim(text, "-0.") == "" {
		text = "+" + text[1:]
	}
	return text + unit
}

func percent(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }
