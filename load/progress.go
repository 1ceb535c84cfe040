package load

import (
	"math"
	"slices"
	"time"

	"github.com/weirhq/weir/load/internal/latencies"
)

// Progress has the state of a run that is under way.
type Progress struct {
	Elapsed  time.Duration // of the measured time; negative during the warm-up, of which nothing is counted
	Duration time.Duration // of the plan; 0 without one
	Asked    int64
	Sent     int64
	Requests int64 // answered
	Of       int64 // Requests of the plan; 0 without a number
	Errors   int64
	Unsent   int64
	Late     int64            // as in a Result
	Status   map[string]int64 // responses by class
	Failures map[string]int64 // errors by kind

	Connections int // open now
	InFlight    int64

	// Last is the last complete second. Its Seconds is 0 until there is one. Buckets count its
	// requests by their latency: the first those up to LatencyBounds()[0], the last those above
	// all bounds, with those that were never answered.
	Last    Second
	Buckets []int64 `json:"-"`

	// Latency is the latency of the run so far, without a histogram; nil until a
	// request has ended. FromDue reports whether it counts from due, in the open loop,
	// or from sent.
	Latency *Latency
	FromDue bool

	// Agents is the number of agents that the plan is for; 0 if this process executes it.
	// Reporting is the number of agents that report or have ended. Quiet are the names of
	// the others, as far as they are known.
	Agents, Reporting int
	Quiet             []string

	Waiting bool // the run has stopped sending and waits for the last responses
	Done    bool // the last call
}

// latencyBounds are the bounds of the Buckets of a Progress.
var latencyBounds = func() (bounds [43]time.Duration) {
	for i := range bounds {
		bounds[i] = time.Duration(math.Round(1e4 * math.Pow(10, float64(i)/6)))
	}
	return bounds
}()

// LatencyBounds returns the upper bounds of a Progress's Buckets: six for each power of ten, from 10 µs
// to 100 s.
func LatencyBounds() []time.Duration { return slices.Clone(latencyBounds[:]) }

// buckets counts requests by their latency.
func buckets(o *latencies.Order) []int64 {
	counts := make([]int64, len(latencyBounds)+1)
	i := 0
	for b := range o.Finite.Histogram.Buckets() {
		for i < len(latencyBounds) && b.From > int64(latencyBounds[i]) {
			i++
		}
		counts[i] += b.Count
	}
	counts[len(latencyBounds)] += o.Never
	return counts
}

// Buckets counts the requests of a latency with a histogram, as the Buckets of a Progress. seconds is the sum of their
// times, without those never answered. It is exact to three digits. Without a request l is nil, and counts is too.
func (l *Latency) Buckets() (counts []int64, seconds float64, err error) {
	if l == nil {
		return nil, 0, nil
	}
	o, err := l.order()
	if err != nil {
		return nil, 0, err
	}
	return buckets(o), o.Finite.Histogram.Sum() / 1e9, nil
}

// Left returns the shorter of the times that the duration and the number of requests leave, and
// whether it is known.
func (p *Progress) Left() (left time.Duration, known bool) {
	if p.Duration > 0 {
		left, known = max(0, p.Duration-p.Elapsed), true
	}
	if p.Of > 0 && p.Sent > 0 {
		byNumber := time.Duration(float64(p.Elapsed) * float64(max(0, p.Of-p.Sent)) / float64(p.Sent))
		if !known || byNumber < left {
			left, known = byNumber, true
		}
	}
	return left, known
}

// Share returns the share of the run that is over, or a negative number if it is not known.
func (p *Progress) Share() float64 {
	share := -1.0
	if p.Duration > 0 {
		share = p.Elapsed.Seconds() / p.Duration.Seconds()
	}
	if p.Of > 0 {
		share = max(share, float64(p.Sent)/float64(p.Of))
	}
	if p.Waiting || p.Done {
		share = 1
	}
	return min(share, 1)
}
