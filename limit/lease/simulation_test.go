package lease_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// The delays of a server of Redis on the same machine, as measured by BenchmarkExchange of package
// redisstore: quantiles of a call with one bucket, and the time of the server for each bucket.
var (
	measuredDelays  = []time.Duration{40, 66, 99, 153, 302} // µs: the least, and p50, p90, p99 and p99.9
	delayQuantiles  = []float64{0, 0.5, 0.9, 0.99, 0.999}
	measuredService = 11 * time.Microsecond
)

// randomDelay returns a delay with the measured distribution.
func randomDelay() time.Duration {
	q := rand.Float64() * delayQuantiles[len(delayQuantiles)-1]
	i := 1
	for q > delayQuantiles[i] {
		i++
	}
	part := (q - delayQuantiles[i-1]) / (delayQuantiles[i] - delayQuantiles[i-1])
	us := float64(measuredDelays[i-1]) + part*float64(measuredDelays[i]-measuredDelays[i-1])
	return time.Duration(us * float64(time.Microsecond))
}

// A network delays the calls to a store, whose server handles one bucket at a time.
type network struct {
	mu     sync.Mutex
	extra  time.Duration // in addition to the measured delays
	free   time.Time     // when the server has handled all calls
	busy   time.Duration
	broken bool
}

var errBroken = errors.New("the network is broken")

func (n *network) before(buckets int) error {
	n.mu.Lock()
	if n.broken {
		n.mu.Unlock()
		return errBroken
	}
	delay, service := n.extra+randomDelay(), time.Duration(buckets)*measuredService
	now := time.Now()
	if n.free.Before(now) {
		n.free = now
	}
	n.free = n.free.Add(service)
	n.busy += service
	wait := n.free.Sub(now) + delay
	n.mu.Unlock()
	time.Sleep(wait)
	return nil
}

func (n *network) setBroken(broken bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken = broken
}

func (n *network) busyTime() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.busy
}

// A simulated is the result of a simulation.
type simulated struct {
	admitted, expected float64
	worstSecond        float64 // most admitted in one second, relative to the rate
	calls              float64 // per second
	busy               float64 // part of the time
}

func (s simulated) error() float64 { return s.admitted/s.expected - 1 }

// simulate sends requests to a fleet for a time, three times as many as the rate allows. Without
// the store between two times, if they differ.
func simulate(t *testing.T, replicas int, o limit.RateOptions, extra, d, cut, mended time.Duration) (s simulated) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{extra: extra}
		store := &leasetest.Store{Before: n.before}
		f := newFleet(t, replicas, store, o)
		defer f.stop()
		time.Sleep(2 * time.Second) // all replicas know each other
		before, busy := store.Count(), n.busyTime()
		rate := 1 / o.Every.Seconds()
		demand := changing(replicas, rate)
		if cut != mended {
			time.AfterFunc(cut, func() { n.setBroken(true) })
			time.AfterFunc(mended, func() { n.setBroken(false) })
		}
		for at := time.Duration(0); at < d; at += time.Second {
			got := float64(f.send(time.Second, func(i int, in time.Duration) float64 { return demand(i, at+in) }))
			s.admitted += got
			s.worstSecond = max(s.worstSecond, got/rate)
		}
		s.expected = rate*d.Seconds() + float64(o.Burst)
		after := store.Count()
		s.calls = float64(after.Calls-before.Calls) / d.Seconds()
		s.busy = (n.busyTime() - busy).Seconds() / d.Seconds()
	})
	return s
}

// TestSimulationKeepsToTheRate simulates fleets in virtual time, with the code that runs in a replica. With
// WEIR_SOAK, it prints the table of docs/limits.md.
func TestSimulationKeepsToTheRate(t *testing.T) {
	long := os.Getenv("WEIR_SOAK") != ""
	d, fleets := 10*time.Second, []int{1, 3, 30}
	if long {
		d, fleets = time.Minute, []int{1, 3, 30, 100, 300, 1000}
	}
	var table strings.Builder
	fmt.Fprintln(&table, "| replicas | rate per second | delay | admitted | the worst second | 10 s without the server | "+
		"calls/s | server busy |\n|---|---|---|---|---|---|---|---|")
	for _, n := range fleets {
		for _, c := range []struct {
			rate  int
			extra time.Duration
		}{{1000, 0}, {1000, 10 * time.Millisecond}, {100 * n, 0}} {
			o := limit.RateOptions{Every: time.Second / time.Duration(c.rate), Burst: c.rate / 10, Keys: 1}
			s := simulate(t, n, o, c.extra, d, 0, 0)
			cut := simulate(t, n, o, c.extra, d, d/3, d/3+d/6)
			delay := "measured"
			if c.extra != 0 {
				delay = fmt.Sprint("measured + ", c.extra)
			}
			fmt.Fprintf(&table, "| %d | %d | %s | %+.2f%% | %+.1f%% | %+.1f%% | %.0f | %.2f%% |\n", n, c.rate, delay,
				100*s.error(), 100*(s.worstSecond-1), 100*cut.error(), s.calls, 100*s.busy)
			if e := s.error(); e < -0.02 || e > 0.02 {
				t.Errorf("%d replicas, %d/s: %+.2f%% from the rate, want at most 2%%", n, c.rate, 100*e)
			}
			if e := cut.error(); e < -0.1 || e > 0.1 {
				t.Errorf("%d replicas, %d/s: %+.2f%% from the rate without the server, want at most 10%%", n, c.rate, 100*e)
			}
		}
	}
	t.Log("\n" + table.String())
}
