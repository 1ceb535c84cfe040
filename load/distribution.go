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

// ranked returns the bucket of a time, by its number in their order, from 1 on.
func (d *distribution) ranked(rank int64) int64 {
	return d.histogram.ValueAtPercentile(100 * float64(rank) / float64(d.count()))
}

// latency is the distribution as a Result has it, nil when there is none.
func (d *distribution) latency() *Latency {
	if d == nil {
		return nil
	}
	return (&order{answered: d, finite: d}).document()
}

// encoded is the histogram as a text, "" when it is empty.
func (d *distribution) encoded() string {
	if d.count() == 0 {
		return ""
	}
	b, err := d.histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err) // compressing into memory does not fail
	}
	return string(b)
}

func micros(ns int64) Micros { return Micros(float64(ns) / 1e3) }

// DecodeHistogram returns the whole distribution, in nanoseconds. It fails when
// the text was not written by a run.
func (l *Latency) DecodeHistogram() (*hdrhistogram.Histogram, error) {
	if l.Histogram == "" {
		return nil, errors.New("load: the latency has no histogram")
	}
	return hdrhistogram.Decode([]byte(l.Histogram))
}
