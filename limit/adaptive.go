package limit

import (
	"math"
	"slices"
	"time"
)

const (
	// firstLimit is the limit before the latency is known.
	firstLimit = 20
	// leastLimit is the lowest limit.
	leastLimit = 3
	// defaultMost is the highest limit if Max is 0.
	defaultMost = 1000

	// A window ends when it has lasted this long and has enough samples.
	windowTime    = 100 * time.Millisecond
	windowSamples = 10
	// keptSamples is the number of samples of a window whose median is its latency.
	keptSamples = 128

	// measureEvery is the time between two measurements of the base latency, and
	// measureSamples the number of samples of one.
	measureEvery   = time.Minute
	measureSamples = 25
	// calmPart is the part of the limit, 1/calmPart, up to which requests do not wait for each
	// other in the service. A measurement reduces the limit to it.
	calmPart = 4
	// stuckWindows is the number of windows with the lowest limit after which the base latency
	// is no longer believed: the service has become slower.
	stuckWindows = 5

	// The latency may exceed the base latency by a quarter, or by leastBuffer if that is more:
	// the scheduler of a busy machine delays each request by as much.
	bufferPart  = 4
	leastBuffer = time.Millisecond
)

// An adaptive limit follows the latency of a service. It is the gradient controller of Envoy's
// adaptive concurrency filter (envoyproxy.io, "Adaptive Concurrency"), which continues Netflix's
// concurrency-limits. After each window,
//
//	gradient = (base + buffer) / latency, from 0.5 to 2
//	limit    = limit * gradient + sqrt(limit)
//
// where latency is the median of the window, and base the latency without load. If requests
// queue in the service, its latency grows and the limit falls. Otherwise the limit grows by the
// root, which leaves a short queue in the service.
//
// There are two differences. Envoy measures base with three requests in flight. Here, a
// measurement reduces the limit to a quarter, which costs less throughput, and is left out if
// there were so few requests in flight anyway. And the limit does not grow while less than half
// of it is used, so that a sudden overload does not find a high one.
type adaptive struct {
	limit float64
	most  int

	base        time.Duration // 0 before the first measurement
	measured    time.Time     // when base was measured
	measuring   bool
	skip        int // requests that were in flight before the measurement and do not count
	windowBegan time.Time
	samples     [keptSamples]time.Duration // the last ones of the window
	n           int                        // samples of the window
	peak        int                        // most requests in flight in the window
	stuck       int                        // windows in a row with the lowest limit
}

// newAdaptive returns a limit of at most most. It begins with a measurement.
func newAdaptive(most int) *adaptive {
	a := &adaptive{limit: firstLimit, measuring: true}
	a.setMost(most)
	return a
}

func (a *adaptive) setMost(most int) {
	if most <= 0 {
		most = defaultMost
	}
	a.most = most
	a.limit = min(a.limit, float64(most))
}

// max returns the limit that applies now.
func (a *adaptive) max() int {
	limit := a.limit
	if a.measuring {
		limit = max(leastLimit, limit/calmPart)
	}
	return max(1, min(int(limit), a.most))
}

// leave counts a request that has left. inFlight is the number of requests before it left, and
// took the time that the service took for it.
func (a *adaptive) leave(now time.Time, took time.Duration, inFlight int) {
	a.peak = max(a.peak, inFlight)
	switch {
	case took <= 0:
		return
	case a.skip > 0:
		a.skip--
		return
	case a.n == 0:
		a.windowBegan = now
	}
	a.samples[a.n%keptSamples] = took
	a.n++
	switch {
	case a.measuring && a.n >= measureSamples:
		a.measuring = false
		a.setBase(now, a.median())
		a.next()
	case !a.measuring && a.n >= windowSamples && now.Sub(a.windowBegan) >= windowTime:
		a.adjust(now, a.median(), inFlight)
		a.next()
	}
}

// next begins a window.
func (a *adaptive) next() { a.n, a.peak = 0, 0 }

// median returns the median of the samples.
func (a *adaptive) median() time.Duration {
	samples := a.samples[:min(a.n, keptSamples)]
	slices.Sort(samples)
	return samples[len(samples)/2]
}

func (a *adaptive) setBase(now time.Time, latency time.Duration) { a.base, a.measured = latency, now }

// adjust ends a window with the given latency.
func (a *adaptive) adjust(now time.Time, latency time.Duration, inFlight int) {
	if a.limit <= leastLimit {
		a.stuck++
	} else {
		a.stuck = 0
	}
	switch {
	case a.peak <= max(leastLimit, int(a.limit/calmPart)) || a.stuck >= stuckWindows:
		a.setBase(now, latency)
		a.stuck = 0
	case latency < a.base:
		a.base = latency
	case now.Sub(a.measured) >= measureEvery:
		a.measuring, a.skip = true, inFlight-1
		return
	}
	gradient := float64(a.base+max(a.base/bufferPart, leastBuffer)) / float64(latency)
	limit := a.limit*min(max(gradient, 0.5), 2) + math.Sqrt(a.limit)
	if limit > a.limit && float64(a.peak) < a.limit/2 {
		return
	}
	a.limit = min(max(limit, leastLimit), float64(a.most))
}
