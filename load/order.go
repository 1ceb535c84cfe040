package load

import "math"

// An order is the requests sorted by their times: first those answered and those
// given up, then those that were never answered.
type order struct {
	answered *distribution
	finite   *distribution // answered and given up; the same as answered if none was given up
	never    int64
}

func (o *order) count() int64 { return o.finite.count() + o.never }

// whole reports whether each request was answered.
func (o *order) whole() bool { return o.never == 0 && o.finite.count() == o.answered.count() }

// at returns the time at a percentage, and whether it is a lower bound, because the
// unknown time of a request that was given up would change it. Without requests it is 0.
func (o *order) at(percentage float64) (value Micros, atLeast bool) {
	n := o.count()
	if n == 0 {
		return 0, false
	}
	rank := Rank(percentage, n)
	if rank > o.finite.count() {
		return NeverAnswered, false
	}
	ns := o.finite.ranked(rank)
	atLeast = !o.whole() && (rank > o.answered.count() || o.answered.ranked(rank) != ns)
	return micros(min(max(ns, o.finite.min), o.finite.max)), atLeast // a bucket may extend beyond both
}

// Rank returns the rank, from 1, of a percentile of n sorted times: n·percentage/100, rounded
// up, as in HdrHistogram for Java since 2.1.10. At least this percentage of the times is no
// longer. With one failure among 60 requests, p99 is the failure.
func Rank(percentage float64, n int64) int64 {
	const rounding = 1e-12 // 99.9/100*1000 is above 999 in floating point
	return min(max(int64(math.Ceil(percentage/100*float64(n)*(1-rounding))), 1), n)
}

// latency returns the latency for a Result, without histograms; nil without a request.
func (o *order) latency() *Latency {
	n := o.count()
	if n == 0 {
		return nil
	}
	l := &Latency{Unit: "us", Count: n, GivenUp: o.finite.count() - o.answered.count(), NeverAnswered: o.never}
	for _, q := range l.quantiles() {
		var atLeast bool
		if *q.value, atLeast = o.at(q.percentage); atLeast {
			l.AtLeast = append(l.AtLeast, q.key)
		}
		if tooFew(n, q.percentage) {
			l.TooFew = append(l.TooFew, q.key)
		}
	}
	o.setMoments(l)
	return l
}

// fewBeyond is the number of requests beyond a quantile that make it reliable. With
// fewer than 3, the true quantile is above all samples in more than one of 20 runs:
// (1-3/n)^n is about 0.05 ("rule of three").
const fewBeyond = 3

// tooFew reports whether fewer than fewBeyond of n requests lie beyond a quantile.
func tooFew(n int64, percentage float64) bool {
	return float64(n)*min(percentage, 100-percentage)/100 < fewBeyond-1e-6
}

// setMoments sets the minimum, maximum, mean and standard deviation.
func (o *order) setMoments(l *Latency) {
	whole := o.whole()
	bound := func(key string) {
		if !whole {
			l.AtLeast = append(l.AtLeast, key)
		}
	}
	l.Min, l.Max, l.Mean, l.Stdev = NeverAnswered, NeverAnswered, NeverAnswered, NeverAnswered
	if o.finite.count() > 0 {
		l.Min = micros(o.finite.min)
		if o.answered.count() == 0 || o.answered.min > o.finite.min {
			bound("min")
		}
	}
	if o.never > 0 {
		if o.finite.count() > 0 {
			l.MaxFinite = micros(o.finite.max)
		}
		return
	}
	l.Max, l.Mean = micros(o.finite.max), Micros(o.finite.sum/float64(o.finite.count())/1e3)
	bound("max")
	bound("mean")
	if whole {
		l.Stdev = Micros(o.finite.histogram.StdDev() / 1e3)
	}
}

// document returns the latency for a Result, with histograms; nil without a request.
func (o *order) document() *Latency {
	l := o.latency()
	if l == nil {
		return nil
	}
	l.Histogram = o.finite.encoded()
	if !o.whole() && o.answered.count() > 0 {
		l.Answered = (&order{answered: o.answered, finite: o.answered}).document()
	}
	return l
}

// order decodes the histograms.
func (l *Latency) order() (order, error) {
	o := order{never: l.NeverAnswered}
	var err error
	if o.finite, err = l.distribution(); err != nil {
		return o, err
	}
	switch {
	case l.Answered != nil:
		o.answered, err = l.Answered.distribution()
	case l.GivenUp == 0:
		o.answered = o.finite
	default:
		o.answered = newDistribution()
	}
	return o, err
}

// distribution decodes the histogram.
func (l *Latency) distribution() (*distribution, error) {
	if l.Count == l.NeverAnswered {
		return newDistribution(), nil
	}
	d := new(distribution)
	var err error
	if d.histogram, err = l.DecodeHistogram(); err != nil {
		return nil, err
	}
	d.min, d.max = l.Min.nanoseconds(), d.histogram.Max()
	switch {
	case l.NeverAnswered == 0:
		d.max = l.Max.nanoseconds()
		d.sum = float64(l.Mean) * 1e3 * float64(l.Count)
	case l.MaxFinite > 0: // otherwise the document is of an earlier weir
		d.max = l.MaxFinite.nanoseconds()
	}
	return d, nil
}

// MergeLatencies returns the latency of several runs together, without histograms. Nil
// latencies have no requests. The result is nil without a request.
func MergeLatencies(latencies ...*Latency) (*Latency, error) {
	o, err := mergeOrders(latencies)
	if err != nil {
		return nil, err
	}
	return o.latency(), nil
}

// mergeOrders merges latencies, which may be nil.
func mergeOrders(latencies []*Latency) (*order, error) {
	all := &order{answered: newDistribution(), finite: newDistribution()}
	for _, l := range latencies {
		if l == nil || l.Count == 0 {
			continue
		}
		o, err := l.order()
		if err != nil {
			return nil, err
		}
		all.answered.merge(o.answered)
		all.finite.merge(o.finite)
		all.never += o.never
	}
	return all, nil
}
