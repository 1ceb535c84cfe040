package load

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A distribution is a histogram of times in nanoseconds, with three digits. Its
// memory does not grow.
type distribution struct {
	histogram *hdrhistogram.Histogram
	sum       float64
	min, max  int64
}

// longest is the largest time. Longer times count as this one.
const longest = int64(24 * time.Hour)

func newDistribution() *distribution {
	d := &distribution{histogram: hdrhistogram.New(1, longest, 3)}
	d.reset()
	return d
}

func (d *distribution) reset() {
	if d.count() > 0 { // Reset clears many thousand counters
		d.histogram.Reset()
	}
	d.sum, d.min, d.max = 0, math.MaxInt64, 0
}

// record counts t. A negative time counts as 0.
func (d *distribution) record(t time.Duration) {
	n := min(max(int64(t), 0), longest)
	d.sum += float64(n)
	d.min, d.max = min(d.min, n), max(d.max, n)
	d.histogram.RecordValue(n) // n is in range
}

// merge adds the counts of e.
func (d *distribution) merge(e *distribution) {
	if e == nil || e.count() == 0 {
		return
	}
	d.histogram.Merge(e.histogram)
	d.sum += e.sum
	d.min, d.max = min(d.min, e.min), max(d.max, e.max)
}

func (d *distribution) count() int64 { return d.histogram.TotalCount() }

// ranked returns the bucket of the time with the given rank, from 1.
func (d *distribution) ranked(rank int64) int64 {
	return d.histogram.ValueAtPercentile(100 * float64(rank) / float64(d.count()))
}

// latency returns the distribution for a Result; nil for nil.
func (d *distribution) latency() *Latency {
	if d == nil {
		return nil
	}
	return (&order{answered: d, finite: d}).document()
}

// encoded returns the encoded histogram; "" if it is empty.
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

func micros(ns int64) Micros { return Micros(float64(ns) / 1e3) }

// nanoseconds is the inverse of micros.
func (m Micros) nanoseconds() int64 { return int64(math.Round(float64(m) * 1e3)) }

// DecodeHistogram returns the distribution, in nanoseconds. It returns an error if
// the histogram is missing or malformed.
func (l *Latency) DecodeHistogram() (*hdrhistogram.Histogram, error) {
	if l.Histogram == "" {
		return nil, errors.New("load: the latency has no histogram")
	}
	return hdrhistogram.Decode([]byte(l.Histogram))
}
