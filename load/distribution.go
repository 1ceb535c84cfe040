package load

import (
	"errors"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A distribution counts times, in nanoseconds, to three digits. Its memory does
// not grow.
type distribution struct {
	histogram *hdrhistogram.Histogram
	sum       float64
	min, max  int64
}

// longest is what every longer time counts as.
const longest = int64(24 * time.Hour)

func newDistribution() *distribution {
	d := &distribution{histogram: hdrhistogram.New(1, longest, 3)}
	d.reset()
	return d
}

func (d *distribution) reset() {
	if d.count() > 0 { // there are many thousand counts to look at
		d.histogram.Reset()
	}
	d.sum, d.min, d.max = 0, math.MaxInt64, 0
}

// record counts t, as 0 when it is negative and as a day when it is longer.
func (d *distribution) record(t time.Duration) {
	n := min(max(int64(t), 0), longest)
	d.sum += float64(n)
	d.min, d.max = min(d.min, n), max(d.max, n)
	d.histogram.RecordValue(n) // which is in range
}

// merge adds what e has counted.
func (d *distribution) merge(e *distribution) {
	if e == nil || e.count() == 0 {
		return
	}
	d.histogram.Merge(e.histogram)
	d.sum += e.sum
	d.min, d.max = min(d.min, e.min), max(d.max, e.max)
}

// merged returns what both have counted, in either of them; nil has counted
// nothing.
func merged(d, e *distribution) *distribution {
	if d == nil {
		return e
	}
	d.merge(e)
	return d
}

func (d *distribution) count() int64 { return d.histogram.TotalCount() }

// quantiles returns the times in microseconds at these percentages, which are to
// rise; 0 of none. Of n sorted times p% is the one whose number is nearest to
// n·p/100, as HdrHistogram has it, in every language and in the file of --hdr.
func (d *distribution) quantiles(percentages ...float64) []float64 {
	times := make([]float64, len(percentages))
	if d.count() == 0 {
		return times
	}
	for i, v := range d.histogram.ValueAtPercentilesSlice(percentages) {
		times[i] = micros(min(max(v, d.min), d.max)) // a bucket's bounds may lie beyond both
	}
	return times
}

// latency is the distribution as a Result has it, nil when there is none.
func (d *distribution) latency() *Latency {
	if d == nil || d.count() == 0 {
		return nil
	}
	n := d.count()
	q := d.quantiles(2.5, 50, 90, 97.5, 99, 99.9, 99.99)
	l := &Latency{
		Unit: "us", Count: n,
		Min: micros(d.min), Max: micros(d.max), Mean: d.sum / float64(n) / 1e3, Stdev: d.histogram.StdDev() / 1e3,
		P2_5: q[0], P50: q[1], P90: q[2], P97_5: q[3], P99: q[4], P999: q[5], P9999: q[6],
	}
	b, err := d.histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err) // compressing into memory does not fail
	}
	l.Histogram = string(b)
	return l
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

// DecodeHistogram returns the whole distribution, in nanoseconds. It fails when
// the text was not written by a run.
func (l *Latency) DecodeHistogram() (*hdrhistogram.Histogram, error) {
	if l.Histogram == "" {
		return nil, errors.New("load: the latency has no histogram")
	}
	return hdrhistogram.Decode([]byte(l.Histogram))
}
