package load

import (
	"math"
	"slices"
	"time"
	"unsafe"
)

// Truth holds the latencies of requests, from when they were due to their responses.
type Truth struct {
	Requests int           `json:"requests"`
	P50      time.Duration `json:"p50"`
	P99      time.Duration `json:"p99"`
	P999     time.Duration `json:"p999"`
	Max      time.Duration `json:"max"`
}

// truthOf sorts samples, which all exceed the latencies by origin.
func truthOf(samples []time.Duration, origin time.Duration) Truth {
	if len(samples) == 0 {
		return Truth{}
	}
	slices.Sort(samples)
	at := func(q float64) time.Duration {
		return samples[max(0, int(math.Ceil(q*float64(len(samples))))-1)] - origin
	}
	return Truth{Requests: len(samples), P50: at(0.5), P99: at(0.99), P999: at(0.999), Max: at(1)}
}

// dueAt returns when the request with this number is due, relative to number 0.
func dueAt(number int, rate float64) time.Duration {
	return time.Duration(float64(number) / rate * float64(time.Second))
}

// ExpectedTruth returns the latencies of requests that are due at the Rate of m for d, if they arrive without delay.
func (m Manner) ExpectedTruth(d time.Duration) Truth {
	var samples []time.Duration
	for i := 0; dueAt(i, m.Rate) < d; i++ {
		due := dueAt(i, m.Rate)
		samples = append(samples, m.awake(m.awake(due)+m.Delay)-due)
	}
	return truthOf(samples, 0)
}

// awake returns t, or the end of the stall at t.
func (m Manner) awake(t time.Duration) time.Duration {
	if m.Stall > 0 && t%m.Every >= m.Every-m.Stall {
		return t - t%m.Every + m.Every
	}
	return t
}

// binWidth is the width of the bins for the variance of a pace.
const binWidth = 10 * time.Millisecond

// count adds one to the bin of t.
func count(bins []int, t time.Duration) []int {
	i := int(t / binWidth)
	for len(bins) <= i {
		bins = append(bins, 0)
	}
	bins[i]++
	return bins
}

// Variance returns the variance of the number of arrivals in each 10 ms around the expected number, without the
// incomplete last bin. 0 is even; random arrivals have a variance equal to their mean.
func (t Tally) Variance(rate float64) float64 {
	whole := t.Per10ms[:max(0, len(t.Per10ms)-1)]
	if len(whole) == 0 {
		return math.NaN()
	}
	want, sum := rate*binWidth.Seconds(), 0.0
	for _, n := range whole {
		sum += (float64(n) - want) * (float64(n) - want)
	}
	return sum / float64(len(whole))
}

// PerSecond returns the rate from the first request to the last.
func (t Tally) PerSecond() float64 {
	if t.Took <= 0 {
		return 0
	}
	return float64(t.Requests-1) / t.Took.Seconds()
}

func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
