package dispatch

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/load/pace"
)

// A fakeSender has a number of free connections and records what it is given.
type fakeSender struct {
	free, open, opening int
	sent                []handedOut
	grown               int64
}

func (s *fakeSender) NextFree() bool                 { return s.free > 0 }
func (s *fakeSender) Connections() (open, being int) { return s.open, s.opening }
func (s *fakeSender) Grow(n int64)                   { s.grown += n }
func (s *fakeSender) SendDue(due time.Duration, starved bool) {
	s.free--
	s.sent = append(s.sent, handedOut{due, starved})
}

// A handedOut is a request that a sender is given.
type handedOut struct {
	due     time.Duration
	starved bool
}

const ms = time.Millisecond

// testDispatcher returns the dispatcher of an open loop with 1000 requests per second.
func testDispatcher(o Options) *Dispatcher {
	o.Pace, o.Parts = pace.Rate(1000), 1
	return New(o)
}

func TestStepSendsDueRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options Options
		free    int
		now     time.Duration
		end     time.Duration
		sent    int
		skipped int64
		waiting int64
	}{
		{name: "first request is due at 0", free: 9, now: 0, end: pace.Never, sent: 1},
		{name: "all due requests are sent", free: 9, now: 3 * ms, end: pace.Never, sent: 4},
		{name: "requests wait for a connection", free: 1, now: 3 * ms, end: pace.Never, sent: 1, waiting: 3},
		{name: "the backlog limits those that wait", options: Options{Backlog: 2}, free: 1, now: 9 * ms, end: pace.Never, sent: 1,
			skipped: 7, waiting: 2},
		{name: "no backlog", options: Options{Backlog: -1}, free: 1, now: 9 * ms, end: pace.Never, sent: 1, skipped: 9},
		{name: "the number of requests is limited", options: Options{Requests: 2}, free: 9, now: time.Hour,
			end: pace.Never, sent: 2},
		{name: "nothing is due at the end", free: 9, now: time.Hour, end: 3 * ms, sent: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, s := testDispatcher(c.options), &fakeSender{free: c.free, open: 1}
			skipped := d.Step(c.now, c.end, s)
			if len(s.sent) != c.sent || skipped != c.skipped || d.Waiting() != c.waiting {
				t.Errorf("%d sent, %d skipped, %d wait; want %d, %d, %d", len(s.sent), skipped, d.Waiting(), c.sent,
					c.skipped, c.waiting)
			}
			if sum := int64(len(s.sent)) + skipped + d.Waiting(); d.asked != sum {
				t.Errorf("%d asked, want %d", d.asked, sum)
			}
		})
	}
}

// TestGrowthOpensConnectionsGradually checks how many connections are opened while a server stalls.
func TestGrowthOpensConnectionsGradually(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		perRequest    bool
		open, opening int
		want          []int64 // at 1, 2, 3, ... ms
	}{
		{"after 2 ms an eighth more each millisecond", false, 16, 0, []int64{0, 0, 3, 3, 3}},
		{"no more than requests wait", false, 800, 0, []int64{0, 0, 4, 5, 6}},
		{"at least one", false, 1, 0, []int64{0, 0, 1, 1, 1}},
		{"without a connection one for each request", false, 0, 0, []int64{2, 3, 4, 5, 6}},
		{"one for each request that has none", true, 8, 3, []int64{-1, 0, 1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, s := testDispatcher(Options{PerRequest: c.perRequest}), &fakeSender{open: c.open, opening: c.opening}
			var got []int64
			for i := range c.want {
				s.grown = 0
				d.Step(time.Duration(i+1)*ms, pace.Never, s)
				got = append(got, s.grown)
				if !c.perRequest && c.open > 0 {
					s.open += int(s.grown)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("opened %v, want %v", got, c.want)
			}
		})
	}
}

// TestGrowthPausesWithoutWaiting checks that growth pauses again after no request has waited.
func TestGrowthPausesWithoutWaiting(t *testing.T) {
	t.Parallel()
	d, s := testDispatcher(Options{}), &fakeSender{open: 8}
	for now := ms; now <= 3*ms; now += ms {
		d.Step(now, pace.Never, s)
	}
	if s.grown == 0 {
		t.Error("no connection was opened")
	}
	s.free, s.grown = 100, 0
	d.Step(4*ms, pace.Never, s)
	s.free = 0
	d.Step(5*ms, pace.Never, s)
	if s.grown != 0 {
		t.Errorf("%d connections were opened for a request that has just become due", s.grown)
	}
}

func TestOverReportsTheEnd(t *testing.T) {
	t.Parallel()
	limited := testDispatcher(Options{Requests: 1})
	limited.ask(0)
	var none, one atomic.Int64
	one.Store(1)
	closed := func(budget *atomic.Int64) *Dispatcher { return New(Options{Budget: budget}) }
	for _, c := range []struct {
		name string
		d    *Dispatcher
		now  time.Duration
		want bool
	}{
		{"before the end", testDispatcher(Options{}), ms, false},
		{"at the end", testDispatcher(Options{}), 2 * ms, true},
		{"all requests were asked for", limited, ms, true},
		{"closed, no limit", closed(nil), ms, false},
		{"closed, one left", closed(&one), ms, false},
		{"closed, none left", closed(&none), ms, true},
		{"closed, at the end", closed(&one), 2 * ms, true},
	} {
		if got := c.d.Over(c.now, 2*ms); got != c.want {
			t.Errorf("%s: over is %v", c.name, got)
		}
	}
}

func TestUntilDueReturnsTheWait(t *testing.T) {
	t.Parallel()
	d := testDispatcher(Options{})
	d.ask(0) // the next is due at 1 ms
	for _, c := range []struct{ now, end, want time.Duration }{
		{0, pace.Never, ms}, {ms / 4, pace.Never, 3 * ms / 4}, {ms, pace.Never, 0}, {2 * ms, pace.Never, 0}, {0, ms, Tick},
	} {
		if got := d.UntilDue(c.now, c.end); got != c.want {
			t.Errorf("at %v with the end at %v: %v, want %v", c.now, c.end, got, c.want)
		}
	}
}

// TestEachRequestIsClaimedOnce checks that concurrent connections claim each request once.
func TestEachRequestIsClaimedOnce(t *testing.T) {
	t.Parallel()
	var budget, claimed atomic.Int64
	budget.Store(1000)
	var all sync.WaitGroup
	for range 4 {
		d := New(Options{Budget: &budget})
		all.Go(func() {
			for d.Claim(0) {
				claimed.Add(1)
			}
		})
	}
	all.Wait()
	if n := claimed.Load(); n != 1000 {
		t.Errorf("%d requests were claimed, want 1000", n)
	}
}

// A dispatcherModel does what a dispatcher does, with a list of the requests that
// wait.
type dispatcherModel struct {
	due     []time.Duration // not asked for yet
	waiting []time.Duration
	backlog int
	starved time.Duration
	asked   int64
}

// step returns the requests that are sent with so many free connections, and the
// number of skipped ones.
func (m *dispatcherModel) step(now, end time.Duration, free int) (sent []handedOut, skipped int64) {
	for len(m.due) > 0 && m.due[0] <= now && m.due[0] < end {
		m.waiting, m.due = append(m.waiting, m.due[0]), m.due[1:]
		m.asked++
	}
	for ; len(m.waiting) > 0 && free > 0; free-- {
		sent = append(sent, handedOut{m.waiting[0], m.waiting[0] <= m.starved})
		m.waiting = m.waiting[1:]
	}
	if len(m.waiting) > 0 {
		m.starved = now
	}
	if m.backlog != 0 {
		skipped = int64(max(0, len(m.waiting)-max(m.backlog, 0)))
		m.waiting = m.waiting[skipped:]
	}
	return sent, skipped
}

// FuzzDispatcher compares a dispatcher with the model. Each step has a time, a
// number of free connections, and a request that fails before it is sent.
func FuzzDispatcher(f *testing.F) {
	f.Add([]byte{1, 1, 9, 0, 200, 3, 1, 1, 0, 255}, 1000.0, 0, uint16(0), uint16(50), false)
	f.Add([]byte{1, 1, 9, 0, 200, 3, 1, 1, 0, 255}, 500.0, -1, uint16(20), uint16(0), true)
	f.Add([]byte{30, 0, 30, 0, 30, 7, 30, 0, 30, 1, 30, 2}, 10_000.0, 5, uint16(300), uint16(90), true)
	f.Fuzz(func(t *testing.T, steps []byte, rate float64, backlog int, requests, end uint16, poisson bool) {
		o := Options{Pace: pace.Rate(rate), Backlog: backlog, Requests: int64(requests), Parts: 1, Seed: 1}
		o.Pace.Poisson = poisson
		if o.Pace.Check() != nil || rate < 1 || rate > 1e5 || len(steps) > 1000 {
			t.Skip()
		}
		d, model := New(o), &dispatcherModel{backlog: backlog, starved: -1}
		for s := pace.NewSchedule(o.Pace, 0, o.Parts, o.Seed); len(model.due) < 10_000; s.Advance() {
			model.due = append(model.due, s.Due())
		}
		if requests > 0 {
			model.due = model.due[:min(len(model.due), int(requests))]
		}
		ends := pace.Never
		if end > 0 {
			ends = time.Duration(end) * ms
		}
		last := model.due[len(model.due)-1]
		now, sent, skipped, failed := time.Duration(0), int64(0), int64(0), int64(0)
		for i := 0; i+1 < len(steps); i += 2 {
			if now += time.Duration(steps[i]) * ms / 8; now >= last && requests == 0 {
				break // beyond the model's list
			}
			s := &fakeSender{free: int(steps[i+1] % 8), open: 8}
			gotSkipped := d.Step(now, ends, s)
			wantSent, wantSkipped := model.step(now, ends, int(steps[i+1]%8))
			if !slices.Equal(s.sent, wantSent) || gotSkipped != wantSkipped {
				t.Fatalf("step %d: sent %v, skipped %d; want %v, %d", i/2, s.sent, gotSkipped, wantSent, wantSkipped)
			}
			if s.grown > d.Waiting()+gotSkipped {
				t.Fatalf("step %d: %d connections were opened for %d requests", i/2, s.grown, d.Waiting()+gotSkipped)
			}
			sent += int64(len(s.sent))
			skipped += gotSkipped
			if steps[i+1] >= 128 && d.Waiting() > 0 {
				if due, _ := d.Take(); due != model.waiting[0] {
					t.Fatalf("step %d: took the request of %v, want %v", i/2, due, model.waiting[0])
				}
				model.waiting = model.waiting[1:]
				failed++
			}
			if d.Waiting() != int64(len(model.waiting)) || d.asked != model.asked ||
				d.asked != sent+skipped+failed+d.Waiting() {
				t.Fatalf("step %d: asked %d, waiting %d, sent %d, skipped %d, failed %d; want asked %d, waiting %d",
					i/2, d.asked, d.Waiting(), sent, skipped, failed, model.asked, len(model.waiting))
			}
		}
	})
}
