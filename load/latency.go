package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/load/internal/hdr"
	"github.com/weirhq/weir/load/internal/latencies"
)

// A Latency is a distribution of times in microseconds. The quantiles have three
// digits. Min, Max and Mean are exact to the nanosecond.
//
// A failure improves none of them. A request that was given up counts with the time
// until then: it timed out, had no response at the end of the run, or was not sent
// before the end. All other requests without a response were never answered, and count
// as longer than any time: a quantile among them is [NeverAnswered].
type Latency struct {
	Unit  string `json:"unit"`  // "us"
	Count int64  `json:"count"` // including GivenUp and NeverAnswered
	Min   Micros `json:"min"`
	P2_5  Micros `json:"p2_5"`
	P50   Micros `json:"p50"`
	P90   Micros `json:"p90"`
	P97_5 Micros `json:"p97_5"`
	P99   Micros `json:"p99"`
	P999  Micros `json:"p999"`
	P9999 Micros `json:"p9999"`
	Max   Micros `json:"max"`
	Mean  Micros `json:"mean"`
	Stdev Micros `json:"stdev"` // NeverAnswered if a request was given up

	GivenUp       int64 `json:"given_up,omitempty"`
	NeverAnswered int64 `json:"never_answered,omitempty"`

	// MaxFinite is the longest time if requests were never answered and others were not;
	// Max is NeverAnswered then.
	MaxFinite Micros `json:"max_finite,omitempty"`

	// AtLeast has the JSON names of the values above that are lower bounds, because
	// of requests that were given up. TooFew has the names of the quantiles with fewer
	// than three requests beyond: in another run they may be far larger.
	AtLeast []string `json:"at_least,omitempty"`
	TooFew  []string `json:"too_few,omitempty"`

	// Histogram is the distribution in nanoseconds, in the encoding of HdrHistogram (V2,
	// compressed, base64). It does not include requests that were never answered.
	Histogram string `json:"histogram,omitempty"`

	// Answered is the latency of the answered requests; nil if all were, or none.
	Answered *Latency `json:"answered,omitempty"`
}

// Micros is a time in microseconds. A quantile among requests that were never
// answered is [NeverAnswered], which is null in JSON.
type Micros float64

// NeverAnswered is the time of a request that was never answered: +Inf.
var NeverAnswered = Micros(math.Inf(1))

// MarshalJSON implements json.Marshaler.
func (m Micros) MarshalJSON() ([]byte, error) {
	if m == NeverAnswered {
		return []byte("null"), nil
	}
	return json.Marshal(float64(m))
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Micros) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*m = NeverAnswered
		return nil
	}
	return json.Unmarshal(b, (*float64)(m))
}

// micros converts a time in nanoseconds.
func micros(ns int64) Micros {
	if ns == int64(latencies.Never) {
		return NeverAnswered
	}
	return Micros(float64(ns) / 1e3)
}

// nanoseconds is the inverse of micros.
func (m Micros) nanoseconds() int64 { return int64(math.Round(float64(m) * 1e3)) }

// A quantile is a field of a Latency.
type quantile struct {
	key        string // in JSON
	percentage float64
	value      *Micros
}

func (l *Latency) quantiles() []quantile {
	return []quantile{
		{"p2_5", 2.5, &l.P2_5}, {"p50", 50, &l.P50}, {"p90", 90, &l.P90}, {"p97_5", 97.5, &l.P97_5},
		{"p99", 99, &l.P99}, {"p999", 99.9, &l.P999}, {"p9999", 99.99, &l.P9999},
	}
}

// At returns the time at a percentage, and whether it is a lower bound. For a percentage
// without a field it decodes the histogram, and returns its error.
func (l *Latency) At(percentage float64) (value Micros, atLeast bool, err error) {
	switch percentage {
	case 0:
		return l.Min, l.bounded("min"), nil
	case 100:
		return l.Max, l.bounded("max"), nil
	}
	for _, q := range l.quantiles() {
		if percentage == q.percentage {
			return *q.value, l.bounded(q.key), nil
		}
	}
	o, err := l.order()
	if err != nil {
		return 0, false, fmt.Errorf("taking p%v from the result's histogram: %w", percentage, err)
	}
	value, atLeast = quantileOf(o, percentage)
	return min(max(value, l.Min), l.Max), atLeast, nil // a bucket may extend beyond both
}

// bounded reports whether the value with a JSON name is a lower bound.
func (l *Latency) bounded(key string) bool { return slices.Contains(l.AtLeast, key) }

// quantileOf returns the time at a percentage, and whether it is a lower bound.
func quantileOf(o *latencies.Order, percentage float64) (value Micros, atLeast bool) {
	ns, atLeast := o.At(percentage)
	return micros(int64(ns)), atLeast
}

// latencyOf returns the latency of requests that were all answered; nil without any.
func latencyOf(d *latencies.Distribution) *Latency {
	if d == nil {
		return nil
	}
	return newLatency(&latencies.Order{Answered: d, Finite: d})
}

// newLatency returns the latency of the requests; nil without a request.
func newLatency(o *latencies.Order) *Latency {
	l := summarized(o)
	if l == nil {
		return nil
	}
	l.Histogram = o.Finite.Encoded()
	if !o.Whole() && o.Answered.Count() > 0 {
		l.Answered = latencyOf(o.Answered)
	}
	return l
}

// summarized returns the latency of the requests, without histograms; nil without a request.
func summarized(o *latencies.Order) *Latency {
	n := o.Count()
	if n == 0 {
		return nil
	}
	l := &Latency{Unit: "us", Count: n, GivenUp: o.Finite.Count() - o.Answered.Count(), NeverAnswered: o.Never}
	for _, q := range l.quantiles() {
		var atLeast bool
		if *q.value, atLeast = quantileOf(o, q.percentage); atLeast {
			l.AtLeast = append(l.AtLeast, q.key)
		}
		if l.FewBeyond(q.percentage) {
			l.TooFew = append(l.TooFew, q.key)
		}
	}
	l.setMoments(o)
	return l
}

// fewBeyond is the number of requests beyond a quantile that make it reliable. With
// fewer than 3, the true quantile is above all samples in more than one of 20 runs:
// (1-3/n)^n is about 0.05 ("rule of three").
const fewBeyond = 3

// FewBeyond reports whether fewer than three requests lie beyond a percentage, as for the
// quantiles in TooFew.
func (l *Latency) FewBeyond(percentage float64) bool {
	return float64(l.Count)*min(percentage, 100-percentage)/100 < fewBeyond-1e-6
}

// setMoments sets the minimum, maximum, mean and standard deviation.
func (l *Latency) setMoments(o *latencies.Order) {
	whole := o.Whole()
	bound := func(key string) {
		if !whole {
			l.AtLeast = append(l.AtLeast, key)
		}
	}
	l.Min, l.Max, l.Mean, l.Stdev = NeverAnswered, NeverAnswered, NeverAnswered, NeverAnswered
	if o.Finite.Count() > 0 {
		l.Min = micros(o.Finite.Min)
		if o.Answered.Count() == 0 || o.Answered.Min > o.Finite.Min {
			bound("min")
		}
	}
	if o.Never > 0 {
		if o.Finite.Count() > 0 {
			l.MaxFinite = micros(o.Finite.Max)
		}
		return
	}
	l.Max, l.Mean = micros(o.Finite.Max), Micros(o.Finite.Sum/float64(o.Finite.Count())/1e3)
	bound("max")
	bound("mean")
	if whole {
		_, deviation := o.Finite.Histogram.Moments()
		l.Stdev = Micros(deviation / 1e3)
	}
}

// order decodes the histograms.
func (l *Latency) order() (*latencies.Order, error) {
	o := &latencies.Order{Never: l.NeverAnswered}
	var err error
	if o.Finite, err = l.distribution(); err != nil {
		return o, err
	}
	switch {
	case l.Answered != nil:
		o.Answered, err = l.Answered.distribution()
	case l.GivenUp == 0:
		o.Answered = o.Finite
	default:
		o.Answered = latencies.New()
	}
	return o, err
}

// distribution decodes the histogram.
func (l *Latency) distribution() (*latencies.Distribution, error) {
	if l.Count == l.NeverAnswered {
		return latencies.New(), nil
	}
	if l.Histogram == "" {
		return nil, errors.New("load: the latency has no histogram")
	}
	h, err := hdr.Decode(l.Histogram)
	if err != nil {
		return nil, fmt.Errorf("load: the histogram: %w", err)
	}
	d := &latencies.Distribution{Histogram: h}
	d.Min, d.Max = l.Min.nanoseconds(), d.Histogram.Max()
	switch {
	case l.NeverAnswered == 0:
		d.Max = l.Max.nanoseconds()
		d.Sum = float64(l.Mean) * 1e3 * float64(l.Count)
	case l.MaxFinite > 0: // otherwise the document is of an earlier weir
		d.Max = l.MaxFinite.nanoseconds()
	}
	return d, nil
}

// MergeLatencies returns the latency of several runs together, without histograms. Nil
// latencies have no requests. The result is nil without a request.
func MergeLatencies(parts ...*Latency) (*Latency, error) {
	o, err := mergeOrders(parts)
	if err != nil {
		return nil, err
	}
	return summarized(o), nil
}

// mergeOrders merges latencies, which may be nil.
func mergeOrders(parts []*Latency) (*latencies.Order, error) {
	all := &latencies.Order{Answered: latencies.New(), Finite: latencies.New()}
	for _, l := range parts {
		if l == nil || l.Count == 0 {
			continue
		}
		o, err := l.order()
		if err != nil {
			return nil, err
		}
		all.Answered.Merge(o.Answered)
		all.Finite.Merge(o.Finite)
		all.Never += o.Never
	}
	return all, nil
}
