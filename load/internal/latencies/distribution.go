// Package latencies records times of requests in constant memory, merges them, and orders
// them by length. A failure never improves a quantile: requests without a response come
// after requests that have one, or count at least with the time that they waited.
//
// The values are not for concurrent use.
package latencies

import (
	"math"
	"time"

	"github.com/weirhq/weir/load/internal/hdr"
)

// A Distribution is a histogram of times in nanoseconds, with three digits. Its
// memory does not grow.
type Distribution struct {
	Histogram *hdr.Histogram
	Sum       float64
	Min, Max  int64 // math.MaxInt64 and 0 without a time
}

// New returns an empty distribution, which takes 0.3 MB.
func New() *Distribution {
	d := &Distribution{Histogram: hdr.New()}
	d.Reset()
	return d
}

// Reset empties the distribution.
func (d *Distribution) Reset() {
	if d.Count() > 0 { // clearing takes time
		*d.Histogram = hdr.Histogram{}
	}
	d.Sum, d.Min, d.Max = 0, math.MaxInt64, 0
}

// Record counts t. A negative time counts as 0, and one beyond hdr.Longest as that.
func (d *Distribution) Record(t time.Duration) {
	n := min(max(int64(t), 0), hdr.Longest)
	d.Sum += float64(n)
	d.Min, d.Max = min(d.Min, n), max(d.Max, n)
	d.Histogram.Record(n, 1)
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
func (d *Distribution) Count() int64 { return d.Histogram.Count() }

// ranked returns the bucket of the time with the given rank, from 1.
func (d *Distribution) ranked(rank int64) int64 { return d.Histogram.At(rank) }

// Encoded returns the encoded histogram; "" if it is empty.
func (d *Distribution) Encoded() string {
	if d.Count() == 0 {
		return ""
	}
	return d.Histogram.Encode()
}
