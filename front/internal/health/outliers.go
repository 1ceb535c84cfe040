package health

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/internal/proxying"
)

// Outliers configures passive health checks: the outcomes of requests decide. Its fields must not
// change.
type Outliers struct {
	// Consecutive is the number of failures in a row after which a server is ejected. Zero
	// disables this.
	Consecutive int

	// FailureRate is by how much the share of failed requests of a server, from 0 to 1, may
	// exceed the median of the other servers. Zero disables this.
	FailureRate float64

	// Latency is by which factor the median time to the head of the response of a server may
	// exceed the median of the other servers. Zero disables this.
	Latency float64

	Interval time.Duration // for which servers are compared
	Requests int           // in an interval, that a server needs to be compared

	// Ejection is the time of the first ejection. Each further one is longer by this time, up to
	// MaxEjection.
	Ejection, MaxEjection time.Duration

	Statuses statuses.Set // of responses that count as failures
}

// The reasons of ejections.
const (
	ByConsecutive = "consecutive"
	ByFailureRate = "failure_rate"
	ByLatency     = "latency"
)

// Times are counted in buckets of a quarter of a power of two, in microseconds: a median is exact
// to 19%.
const (
	bucketBits = 2
	buckets    = 28 << bucketBits // up to 134 s
)

// counts count the outcomes of the attempts at a server.
type counts struct {
	requests    atomic.Uint32
	failures    atomic.Uint32
	consecutive atomic.Int32
	times       [buckets]atomic.Uint32
}

// note counts an attempt. It reports whether the server has failed so often in a row that it is
// ejected.
func (c *counts) note(o *Outliers, a proxying.Attempt) (eject bool) {
	if a.Waited > 0 {
		c.times[bucketOf(a.Waited)].Add(1)
	}
	switch {
	case a.Failure != "" || o.Statuses.Contains(a.Status):
		c.requests.Add(1)
		c.failures.Add(1)
		n := int(c.consecutive.Add(1))
		return o.Consecutive > 0 && n >= o.Consecutive
	case a.Status != 0:
		c.requests.Add(1)
		if c.consecutive.Load() != 0 {
			c.consecutive.Store(0)
		}
	}
	return false
}

// bucketOf returns the bucket of a time.
func bucketOf(d time.Duration) int {
	us := uint64(d / time.Microsecond)
	if us < 1<<bucketBits {
		return int(us)
	}
	exp := bits.Len64(us) - 1 - bucketBits
	return min(exp<<bucketBits+int(us>>exp), buckets-1)
}

// timeOf returns the least time of a bucket.
func timeOf(bucket int) time.Duration {
	if bucket < 1<<bucketBits {
		return time.Duration(bucket) * time.Microsecond
	}
	exp := bucket>>bucketBits - 1
	mantissa := bucket&(1<<bucketBits-1) | 1<<bucketBits
	return time.Duration(mantissa<<exp) * time.Microsecond
}

// A snapshot is the values of counts at one time.
type snapshot struct {
	requests, failures uint32
	times              [buckets]uint32
}

func (c *counts) snapshot() *snapshot {
	s := &snapshot{requests: c.requests.Load(), failures: c.failures.Load()}
	for i := range c.times {
		s.times[i] = c.times[i].Load()
	}
	return s
}

// A sample is the outcomes of the requests of a server in an interval.
type sample struct {
	requests, failures int
	median             time.Duration // to the head of the response; 0 if unknown
}

// since returns the outcomes between two snapshots.
func (s *snapshot) since(before *snapshot) sample {
	var times [buckets]uint32
	total := uint32(0)
	for i := range times {
		times[i] = s.times[i] - before.times[i]
		total += times[i]
	}
	out := sample{requests: int(s.requests - before.requests), failures: int(s.failures - before.failures)}
	rest := (total + 1) / 2
	for i, n := range times {
		if n >= rest && total > 0 {
			out.median = max(timeOf(i), time.Microsecond)
			break
		}
		rest -= n
	}
	return out
}

// failureRate returns the share of failed requests.
func (s sample) failureRate() float64 { return float64(s.failures) / float64(max(1, s.requests)) }

// leastSlower is how much longer than the others, in any case, an outlier by latency takes.
// Otherwise a server that takes 1 ms instead of 0.2 would be one.
const leastSlower = 10 * time.Millisecond

// A finding is a server that is an outlier.
type finding struct {
	server int // index of the sample
	by     string
	reason string
	excess float64 // by how much the server exceeds the limit
}

// compare returns the outliers in the samples of the servers of an upstream, the worst one first.
func (o *Outliers) compare(samples []sample) (found []finding) {
	for i, s := range samples {
		if s.requests < o.Requests {
			continue
		}
		var rates []float64
		var medians []time.Duration
		for j, other := range samples {
			if j != i && other.requests >= o.Requests {
				rates = append(rates, other.failureRate())
				medians = append(medians, other.median)
			}
		}
		if len(rates) == 0 {
			continue
		}
		rate, median := middle(rates), middle(medians)
		if excess := s.failureRate() - rate; o.FailureRate > 0 && excess >= o.FailureRate {
			found = append(found, finding{i, ByFailureRate,
				fmt.Sprintf("%.0f%% of %d requests failed, of the others %.0f%%", 100*s.failureRate(), s.requests, 100*rate),
				excess / o.FailureRate})
		} else if slow := float64(s.median) / float64(max(1, median)); o.Latency > 0 && slow > o.Latency &&
			s.median >= median+leastSlower {
			found = append(found, finding{i, ByLatency,
				fmt.Sprintf("the median response took %v, of the others %v", s.median, median), slow / o.Latency})
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int {
		switch {
		case a.excess > b.excess:
			return -1
		case a.excess < b.excess:
			return 1
		}
		return 0
	})
	return found
}

// middle returns the median of values, and the lower one of two in the middle. It sorts them.
func middle[T float64 | time.Duration](values []T) T {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}
