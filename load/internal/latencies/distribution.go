// Package latencies records times of requests in constant memory, merges them, and orders
// them by length. A failure never improves a quantile: requests without a response come
// after requests that have one, or count at least with the time that they waited.
//
// The values are not for concurrent use.
package latencies

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Distribution is a histogram of times in nanoseconds, with three digits. Its
// memory does not grow.
type Distribution struct {
	Histogram *hdrhistogram.Histogram
	Sum       float64
	Min, Max  int64 // math.MaxInt64 and 0 without a time
}

// Longest is the largest time in nanoseconds. Longer times count as this one.
const Longest = int64(24 * time.Hour)

// New returns an empty distribution, which takes 0.3 MB.
func New() *Distribution {
	d := &Distribution{Histogram: hdrhistogram.New(1, Longest, 3)}
	d.Reset()
	return d
}

// Reset empties the distribution.
func (d *Distribution) Reset() {
	if d.Count() > 0 { // Reset clears many thousand counters
		d.Histogram.Reset()
	}
	d.Sum, d.Min, d.Max = 0, math.MaxInt64, 0
}

// Record counts t. A negative time counts as 0.
func (d *Distribution) Record(t time.Duration) {
	n := min(max(int64(t), 0), Longest)
	d.Sum += float64(n)
	d.Min, d.Max = min(d.Min, n), max(d.Max, n)
	d.Histogram.RecordValue(n) // n is in range
}

// Merge adds the counts of e.
func (d *Distribution) Merge(e *Distribution) {
	if e == nil || e.Count() == 0 {
		return
	}
	d.Histogram.Merge(e.Histogram)
	d.Sum += e.Sum
	d.Min, d.Max = min(d.Min, e.Min), max(d.Max, e.Max)
}

// Count returns the number of times.
func (d *Distribution) Count() int64 { return d.Histogram.TotalCount() }

// ranked returns the bucket of the time with the given rank, from 1.
func (d *Distribution) ranked(rank int64) int64 {
	return d.Histogram.ValueAtPercentile(100 * float64(rank) / float64(d.Count()))
}

// Encoded returns the encoded histogram; "" if it is empty.
func (d *Distribution) Encoded() string {
	if d.Count() == 0 {
		return ""
	}
	b, err := d.Histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err) // compressing into memory does not fail
	}
	return string(b)
}
