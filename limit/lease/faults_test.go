package lease_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// A link connects one replica with a store. Calls can be lost, before the store applies them or after, or late.
type link struct {
	*leasetest.Store
	lost lossPoint

	mu   sync.Mutex // guards the fields below
	rand *rand.Rand
	cut  bool
	fail float64       // the part of the calls that are lost while the link is not cut
	slow time.Duration // by which responses are late
	late []func() error
}

// A lossPoint is the side of the store on which calls are lost.
type lossPoint int

const (
	lostBefore lossPoint = iota
	lostAfter
	lostAnywhere
	lostLate // applied before the next call that is not lost, as by a server that was stopped
)

const callTimeout = 250 * time.Millisecond

// call runs a call of the store with the faults of the link.
func (l *link) call(run func() error) error {
	l.mu.Lock()
	lost := l.cut || l.rand.Float64() < l.fail
	after := l.lost == lostAfter || l.lost == lostAnywhere && l.rand.IntN(2) == 0
	silent := l.cut || l.rand.IntN(2) == 0 // otherwise the connection is reset
	delay, slow := time.Duration(100+l.rand.IntN(200))*time.Microsecond, l.slow
	var late []func() error
	switch {
	case !lost:
		late, l.late = l.late, nil
	case l.lost == lostLate:
		l.late = append(l.late, run)
	}
	l.mu.Unlock()
	time.Sleep(delay)
	if !lost {
		for _, f := range late {
			f()
		}
		err := run()
		time.Sleep(slow)
		return err
	}
	if after {
		run()
	}
	if silent {
		time.Sleep(callTimeout - delay)
	}
	return errBroken
}

func (l *link) setFail(fail float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = fail
}

func (l *link) setSlow(slow time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow = slow
}

func (l *link) setCut(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
}

func (l *link) Exchange(ctx context.Context, batch []lease.Exchange) error {
	applied := slices.Clone(batch)
	err := l.call(func() error { return l.Store.Exchange(ctx, applied) })
	if err == nil {
		copy(batch, applied)
	}
	return err
}

func (l *link) Hold(ctx context.Context, h *lease.Hold) error {
	return l.call(func() error { return l.Store.Hold(ctx, h) })
}

func (l *link) Join(ctx context.Context, j *lease.Join) error {
	return l.call(func() error { return l.Store.Join(ctx, j) })
}

// A faultyFleet is a fleet whose replicas have a link each.
type faultyFleet struct {
	*fleet
	links []*link
}

func newFaultyFleet(t *testing.T, n int, lost lossPoint, fail float64, seed uint64, o limit.RateOptions) *faultyFleet {
	f, store := new(faultyFleet), new(leasetest.Store)
	var stores []lease.Store
	for i := range n {
		l := &link{Store: store, lost: lost, rand: rand.New(rand.NewPCG(seed, uint64(i))), fail: fail}
		f.links, stores = append(f.links, l), append(stores, l)
	}
	f.fleet = startFleet(t, stores, o)
	return f
}

// cut cuts the first n links, and mends the others.
func (f *faultyFleet) cut(n int) {
	for i, l := range f.links {
		l.setCut(i < n)
	}
}

// even is an equal demand of all replicas, of three times the rate in sum.
func even(n int, rate float64) func(int, time.Duration) float64 {
	return func(int, time.Duration) float64 { return rate * 3 / float64(n) }
}

// A fault is a row of the table of docs/decisions/shared-limits.md.
type fault struct {
	name        string
	replicas    int
	cut         []int // the number of replicas that are cut off in each part of the time, in turn
	part        time.Duration
	fail        float64
	demand      func(n int, rate float64) func(int, time.Duration) float64
	least, most float64 // difference from the rate
}

// measure returns the requests that were admitted, relative to the rate.
func (c *fault) measure(t *testing.T, lost lossPoint, seed uint64, d time.Duration) (off float64) {
	const rate = 400
	synctest.Test(t, func(t *testing.T) {
		o := limit.RateOptions{Every: time.Second / rate, Burst: rate / 10, Keys: 1}
		f := newFaultyFleet(t, c.replicas, lost, c.fail, seed, o)
		defer f.stop()
		demand := c.demand(c.replicas, rate)
		time.Sleep(2 * time.Second)
		f.send(3*time.Second, demand)
		admitted, measured := int64(0), time.Duration(0)
		part := c.part
		if part == 0 {
			part = d
		}
		for i := 0; measured < d; i++ {
			if c.cut != nil {
				f.cut(c.cut[i%len(c.cut)])
			}
			admitted += f.send(part, demand)
			measured += part
		}
		off = float64(admitted)/(rate*measured.Seconds()) - 1
	})
	return off
}

// TestReplicasKeepTheRateInFaults cuts replicas off from the store, or loses a part of their calls, before or after the
// store applies them. All replicas together keep to the rate.
func TestReplicasKeepTheRateInFaults(t *testing.T) {
	t.Parallel()
	long := os.Getenv("WEIR_SOAK") != ""
	d, seeds := 12*time.Second, uint64(1)
	if long {
		d, seeds = time.Minute, 5
	}
	faults := []fault{
		{name: "none", replicas: 1, demand: even, least: -0.02, most: 0.005},
		{name: "none", replicas: 3, demand: changing, least: -0.02, most: 0.005},
	}
	for _, fail := range []float64{0.01, 0.03, 0.1} {
		faults = append(faults, fault{name: fmt.Sprintf("%.0f%% of calls fail", 100*fail), replicas: 3, fail: fail,
			demand: changing, least: -0.02, most: 0.02})
	}
	for _, n := range []int{2, 3, 5} {
		for cut := 1; cut <= n; cut++ {
			faults = append(faults, fault{name: fmt.Sprintf("%d cut off", cut), replicas: n, cut: []int{cut}, demand: even,
				least: -0.05, most: 0.05})
		}
	}
	faults = append(faults,
		fault{name: "1 cut off, uneven load", replicas: 3, cut: []int{1}, demand: changing, least: -0.05, most: 0.05},
		fault{name: "2 cut off for 3 minutes", replicas: 3, cut: []int{2}, part: 3 * time.Minute, demand: even,
			least: -0.05, most: 0.05},
		fault{name: "1 cut off every other second", replicas: 2, cut: []int{1, 0}, part: time.Second, demand: even,
			least: -0.1, most: 0.05},
		fault{name: "2 cut off every other 3 s", replicas: 3, cut: []int{2, 0}, part: 3 * time.Second, demand: even,
			least: -0.1, most: 0.05},
		fault{name: "all cut off every other 3 s", replicas: 3, cut: []int{3, 0}, part: 3 * time.Second, demand: changing,
			least: -0.1, most: 0.05},
	)
	var table strings.Builder
	fmt.Fprintln(&table, "| replicas | fault | lost before | lost after | lost anywhere | applied late |\n|---|---|---|---|---|---|")
	for _, c := range faults {
		fmt.Fprintf(&table, "| %d | %s ", c.replicas, c.name)
		for _, lost := range []lossPoint{lostBefore, lostAfter, lostAnywhere, lostLate} {
			least, most := 1.0, -1.0
			for seed := range seeds {
				off := c.measure(t, lost, seed, d)
				least, most = min(least, off), max(most, off)
			}
			if least < c.least || most > c.most {
				t.Errorf("%d replicas, %s, %v: %+.1f%% to %+.1f%% from the rate, want %+.1f%% to %+.1f%%", c.replicas, c.name,
					lost, 100*least, 100*most, 100*c.least, 100*c.most)
			}
			fmt.Fprintf(&table, "| %+.1f%% to %+.1f%% ", 100*least, 100*most)
		}
		fmt.Fprintln(&table, "|")
	}
	t.Log("\n" + table.String())
}

// TestNewClientOfCutReplicasKeepsTheRate sends the requests of a client that no replica knows, after some replicas were
// cut off for as long as the others need to notice it.
func TestNewClientOfCutReplicasKeepsTheRate(t *testing.T) {
	t.Parallel()
	const rate, d = 400, 30 * time.Second
	for _, n := range []int{2, 3, 5} {
		for cut := 1; cut < n; cut++ {
			synctest.Test(t, func(t *testing.T) {
				o := limit.RateOptions{Every: time.Second / rate, Burst: rate / 10, Keys: 100}
				f := newFaultyFleet(t, n, lostAnywhere, 0, 1, o)
				defer f.stop()
				time.Sleep(5 * time.Second)
				f.cut(cut)
				time.Sleep(6 * time.Second)
				admitted := f.send(d, even(n, rate))
				if off := float64(admitted)/(rate*d.Seconds()) - 1; off > 0.05 {
					t.Errorf("%d of %d replicas cut off: %+.1f%% from the rate, want at most 5%%", cut, n, 100*off)
				}
			})
		}
	}
}

// TestShareEndsInTimeAfterALateResponse delays the responses to the replica with most of the load by half a minute, as a
// pause of its process may, and then cuts it off. The store gives its share up a minute after the last exchange, not
// after the response. The load of the other replica rises, and both together do not exceed the rate.
func TestShareEndsInTimeAfterALateResponse(t *testing.T) {
	t.Parallel()
	const rate, late, d = 400, 30 * time.Second, 14 * time.Second
	synctest.Test(t, func(t *testing.T) {
		o := limit.RateOptions{Every: time.Second / rate, Burst: rate / 10, Keys: 1}
		f := newFaultyFleet(t, 2, lostBefore, 0, 1, o)
		defer f.stop()
		uneven := func(i int, _ time.Duration) float64 { return rate * 3 * []float64{0.9, 0.1}[i] }
		time.Sleep(2 * time.Second)
		f.send(5*time.Second, uneven)
		f.links[0].setSlow(late)
		f.send(late, uneven)
		f.cut(1)
		f.send(lease.ShareTTL+8*time.Second-late, even(2, rate))
		admitted := f.send(d, even(2, rate))
		if off := float64(admitted)/(rate*d.Seconds()) - 1; off > 0.05 {
			t.Errorf("%+.1f%% from the rate after the end of the share, want at most 5%%", 100*off)
		}
	})
}

// TestGroupsBelowTheRateAreAdmitted sends groups of seven requests, at 9% of the rate, to one replica or to several in
// turn. The store stops for 4 s, and then the configuration is loaded again. No request is refused.
func TestGroupsBelowTheRateAreAdmitted(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{10, 100, 1000} {
		for _, n := range []int{1, 3} {
			for _, used := range []int{1, n} {
				synctest.Test(t, func(t *testing.T) { sendGroups(t, rate, n, used) })
			}
		}
	}
}

func sendGroups(t *testing.T, rate, replicas, used int) {
	o := limit.RateOptions{Every: time.Second / time.Duration(rate), Burst: 20, Keys: 100}
	f := newFaultyFleet(t, replicas, lostBefore, 0, 1, o)
	defer f.stop()
	time.Sleep(2 * time.Second)
	pause := time.Duration(float64(7*time.Second) / (0.09 * float64(rate)))
	part := max(20*pause, 6*time.Second)
	send := func(when string, d time.Duration) {
		t.Helper()
		for i, began := 0, time.Now(); time.Since(began) < d; i++ {
			for range 7 {
				if !f.rates[i%used].Allow(time.Now(), client).OK {
					t.Errorf("%d/s, %d of %d replicas used: a request was refused %s", rate, used, replicas, when)
				}
			}
			time.Sleep(pause)
		}
	}
	send("before the stop", part)
	f.cut(replicas)
	send("during the stop", 4*time.Second)
	f.cut(0)
	send("after the stop", part)
	for i, l := range f.leasers {
		f.rates[i] = l.Rate("r", o)
	}
	send("after the reload", part)
}

// TestRateAdmitsAfterALongCallOfChanged has Changed wait for 2 s at the beginning and the end of failures, which is
// longer than the time for which checks are planned. The load is ten times the rate all the time, so that the lease is
// used up. It gets its tokens again afterwards.
func TestRateAdmitsAfterALongCallOfChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		store := &leasetest.Store{Before: func(int) error {
			if broken.Load() {
				return errBroken
			}
			return nil
		}}
		l := lease.New(store, lease.Options{Changed: func(lease.Condition) { time.Sleep(2 * time.Second) }})
		r := l.Rate("r", limit.RateOptions{Every: 10 * time.Millisecond, Burst: 10, Keys: 1})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go l.Run(ctx)
		time.AfterFunc(2*time.Second, func() { broken.Store(true) })
		time.AfterFunc(3*time.Second, func() { broken.Store(false) })
		send := func(d time.Duration) (admitted int) {
			for range d / time.Millisecond {
				if r.Allow(time.Now(), limit.Key{}).OK {
					admitted++
				}
				time.Sleep(time.Millisecond)
			}
			return admitted
		}
		send(12 * time.Second)
		if n := send(8 * time.Second); n < 780 || n > 820 {
			t.Errorf("%d requests admitted in 8 s after the calls, want 800", n)
		}
	})
}
