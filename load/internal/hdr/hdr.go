// Package hdr counts values in a histogram with a high dynamic range and constant memory: an
// HdrHistogram (Gil Tene, hdrhistogram.org) of the values 0 to [Longest] with three decimal
// digits.
//
// Values below 2048 have a bucket each. Above, every range of values from one power of two to
// the next has 1024 buckets of the same size, so that a bucket is at most 1/1024 of its values
// wide. The index of a bucket follows from the position of a value's highest bit.
//
// The library hdrhistogram-go has the same algorithm with other ranges and precisions. Its
// users download 14.5 MB, most of it tests, for this part.
package hdr

import (
	"iter"
	"math"
	"math/bits"
	"time"
)

// Longest is the largest value: a day in nanoseconds.
const Longest = int64(24 * time.Hour)

const (
	halfBits = 10                        // the logarithm of the number of buckets in a range
	half     = 1 << halfBits             // buckets in each range but the first
	ranges   = 47 - halfBits             // up to 1<<47, which is above Longest
	length   = (ranges + 1) * half       // buckets; the first range has twice as many
	exact    = int64(1) << 1 << halfBits // smaller values have a bucket each
)

// A Histogram counts values. It takes 0.3 MB. Goroutines must not share it.
type Histogram struct {
	counts [length]int64
	total  int64
}

// A Bucket is a range of values that a histogram does not distinguish.
type Bucket struct {
	From, To int64 // the lowest and the highest
	Count    int64
}

// New returns an empty histogram.
func New() *Histogram { return new(Histogram) }

// index returns the bucket of a value.
func index(v int64) int {
	shift := max(bits.Len64(uint64(v))-halfBits-1, 0)
	return shift<<halfBits + int(v>>shift)
}

// bucket returns the bucket with an index.
func (h *Histogram) bucket(i int) Bucket {
	shift := max(i>>halfBits-1, 0)
	from := int64(i-shift<<halfBits) << shift
	return Bucket{From: from, To: from + 1<<shift - 1, Count: h.counts[i]}
}

// middle is the value that represents the bucket in the mean, as in HdrHistogram.
func (b *Bucket) middle() float64 { return float64(b.From + (b.To-b.From+1)/2) }

// Record counts a value n times. A value out of range counts as the nearest one in it.
func (h *Histogram) Record(v, n int64) {
	h.counts[index(min(max(v, 0), Longest))] += n
	h.total += n
}

// Merge adds the values of g.
func (h *Histogram) Merge(g *Histogram) {
	for i, n := range g.counts {
		if n > 0 { // otherwise a new histogram would use all of its memory
			h.counts[i] += n
		}
	}
	h.total += g.total
}

// Count returns the number of values.
func (h *Histogram) Count() int64 { return h.total }

// Buckets returns the buckets with values in ascending order.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		for i, n := range h.counts {
			if n > 0 && !yield(h.bucket(i)) {
				return
			}
		}
	}
}

// At returns the highest value of the bucket of the value with a rank: 1 or less is the
// smallest, and Count or more the largest. It is 0 without values.
func (h *Histogram) At(rank int64) int64 {
	left := max(min(rank, h.total), 1)
	for i, n := range h.counts {
		if left -= n; left <= 0 {
			return h.bucket(i).To
		}
	}
	return 0
}

// Min returns the lowest value of the first bucket with values, or 0 without values.
func (h *Histogram) Min() int64 {
	for b := range h.Buckets() {
		return b.From
	}
	return 0
}

// Max returns the highest value of the last bucket with values, or 0 without values.
func (h *Histogram) Max() int64 { return h.At(h.total) }

// Sum returns the sum of the values. Each counts as the middle of its bucket.
func (h *Histogram) Sum() (sum float64) {
	for b := range h.Buckets() {
		sum += float64(b.Count) * b.middle()
	}
	return sum
}

// Moments returns the mean and the standard deviation of the values, or 0 without values. Each
// counts as the middle of its bucket.
func (h *Histogram) Moments() (mean, deviation float64) {
	if h.total == 0 {
		return 0, 0
	}
	mean = h.Sum() / float64(h.total)
	for b := range h.Buckets() {
		off := b.middle() - mean
		deviation += float64(b.Count) * off * off / float64(h.total)
	}
	return mean, math.Sqrt(deviation)
}
