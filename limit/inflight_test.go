package limit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
)

// entering calls Enter in a goroutine of the bubble. It returns a pointer to the
// result, which is set once the bubble is idle.
func entering(ctx context.Context, f *limit.InFlight) *error {
	answer := errors.New("still waiting")
	go func() { answer = f.Enter(ctx) }()
	synctest.Wait()
	return &answer
}

func wantStats(t *testing.T, f *limit.InFlight, want limit.InFlightStats) {
	t.Helper()
	got := f.Stats()
	want.Max = got.Max // the limit is an option
	if got != want {
		t.Errorf("stats\n got %+v\nwant %+v", got, want)
	}
}

func TestInFlightZeroHasNoLimit(t *testing.T) {
	const many = 1000
	var f limit.InFlight
	for range many {
		if err := f.Enter(t.Context()); err != nil {
			t.Fatalf("the zero InFlight: got %v, want no limit", err)
		}
	}
	wantStats(t, &f, limit.InFlightStats{InFlight: many, Entered: many})
	f.Change(limit.InFlightOptions{Max: many})
	if err := f.Enter(t.Context()); err != limit.ErrFull {
		t.Errorf("with a limit that is reached: got %v, want %v", err, limit.ErrFull)
	}
	for range many {
		f.Leave()
	}
	wantStats(t, &f, limit.InFlightStats{Entered: many, Full: 1})
}

func TestTryEnterOvertakesNoWaitingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1, Queue: 1})
		if !f.TryEnter() || f.TryEnter() {
			t.Error("want one call to be admitted, and no other")
		}
		waiting := entering(t.Context(), f)
		f.Leave()
		synctest.Wait()
		if *waiting != nil || f.TryEnter() {
			t.Errorf("the waiting call: %v; or TryEnter has passed it", *waiting)
		}
		f.Leave()
		wantStats(t, f, limit.InFlightStats{Entered: 2})
	})
}

// TestRemovedLimitAdmitsWaitingCalls removes the limit while calls wait.
func TestRemovedLimitAdmitsWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1, Queue: 2})
		for range 3 {
			entering(t.Context(), f)
		}
		f.Change(limit.InFlightOptions{})
		synctest.Wait()
		wantStats(t, f, limit.InFlightStats{InFlight: 3, Entered: 3})
	})
}

// TestInFlightFollowsChangedLimit lowers the limit below the number in flight, and raises it again
// while calls wait.
func TestInFlightFollowsChangedLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inside, waiting = 3, 4
		wide := limit.InFlightOptions{Max: inside, Queue: waiting, Wait: time.Hour}
		narrow := wide
		narrow.Max = 1
		f := limit.NewInFlight(wide)
		for range inside + waiting {
			entering(t.Context(), f)
		}
		f.Change(narrow)
		for left := inside - 1; left >= 1; left-- {
			f.Leave()
			wantStats(t, f, limit.InFlightStats{InFlight: left, Waiting: waiting, Entered: inside})
		}
		f.Leave()
		wantStats(t, f, limit.InFlightStats{InFlight: 1, Waiting: waiting - 1, Entered: inside + 1})
		f.Change(wide)
		wantStats(t, f, limit.InFlightStats{InFlight: inside, Waiting: 1, Entered: 2 * inside})
		for range inside + 1 {
			f.Leave()
		}
		wantStats(t, f, limit.InFlightStats{Entered: inside + waiting})
	})
}

// TestInFlightCountsEachCallUnderChanges changes all options in random order while more requests arrive than leave, so
// that the queue is full and congested. Each call ends in one of the counts, and nothing is left.
func TestInFlightCountsEachCallUnderChanges(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			f := limit.NewInFlight(limit.InFlightOptions{Max: 4, Queue: 8, Wait: 100 * time.Millisecond})
			var calls, ended atomic.Uint64
			var running sync.WaitGroup
			for range 3000 {
				takes := time.Duration(r.IntN(50)) * time.Millisecond
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(300))*time.Millisecond)
				running.Go(func() {
					defer cancel()
					calls.Add(1)
					if f.Enter(ctx) == nil {
						time.Sleep(takes)
						f.LeaveAfter(time.Now(), takes)
					}
					ended.Add(1)
				})
				time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
				if r.IntN(10) == 0 {
					f.Change(limit.InFlightOptions{Max: r.IntN(6), Adaptive: r.IntN(4) == 0, Queue: r.IntN(3) * r.IntN(10),
						Wait: time.Duration(r.IntN(200)) * time.Millisecond})
				}
				if r.IntN(50) == 0 {
					f.ChangeMax(1 + r.IntN(6))
				}
			}
			running.Wait()
			s := f.Stats()
			if counted := s.Entered + s.Full + s.Waited + s.Overtaken + s.Gone; counted != calls.Load() || s.InFlight != 0 ||
				s.Waiting != 0 || ended.Load() != calls.Load() {
				t.Errorf("seed %d: %d calls, %d ended, stats %+v", seed, calls.Load(), ended.Load(), s)
			}
		})
	}
}

// TestInFlightWithoutQueueRefusesAtOnce takes the queue away while it is congested. The next request is refused as by
// a limit that never had a queue.
func TestInFlightWithoutQueueRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1, Queue: 20, Wait: time.Second})
		for range 10 {
			entering(t.Context(), f)
		}
		time.Sleep(600 * time.Millisecond)
		entering(t.Context(), f)
		if !f.Stats().NewestFirst {
			t.Fatal("the queue is not congested")
		}
		f.Change(limit.InFlightOptions{Max: 1})
		for f.Stats().Waiting > 0 {
			f.Leave()
			synctest.Wait()
		}
		if err := f.Enter(t.Context()); err != limit.ErrFull {
			t.Errorf("got %v, want %v", err, limit.ErrFull)
		}
		f.Leave()
		if err := f.Enter(t.Context()); err != nil {
			t.Errorf("after the last one has left: %v", err)
		}
	})
}

func TestInFlightRefusesAtOnceWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 2, Queue: 1})
		ctx := t.Context()
		answers := []*error{entering(ctx, f), entering(ctx, f), entering(ctx, f)}
		before := time.Now()
		if err := f.Enter(ctx); err != limit.ErrFull {
			t.Errorf("one more than Max and Queue: got %v, want %v", err, limit.ErrFull)
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("rejected after %v, want no wait", took)
		}
		wantStats(t, f, limit.InFlightStats{InFlight: 2, Waiting: 1, Entered: 2, Full: 1})
		f.Leave()
		synctest.Wait()
		for i, err := range answers {
			if *err != nil {
				t.Errorf("call %d: got %v, want it admitted", i, *err)
			}
		}
		f.Leave()
		f.Leave()
		wantStats(t, f, limit.InFlightStats{Entered: 3, Full: 1})
	})
}

func TestInFlightRefusesAfterTheWaitingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1, Queue: 1, Wait: 3 * time.Second})
		entering(t.Context(), f)
		before := time.Now()
		if err := f.Enter(t.Context()); err != limit.ErrWaited {
			t.Errorf("got %v, want %v", err, limit.ErrWaited)
		}
		if took := time.Since(before); took != 3*time.Second {
			t.Errorf("refused after %v, want 3s", took)
		}
		f.Leave()
		wantStats(t, f, limit.InFlightStats{Entered: 1, Waited: 1})
	})
}

func TestInFlightIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1, Queue: 10})
		entering(t.Context(), f)
		var order []int
		for i := range 10 {
			go func() {
				if f.Enter(t.Context()) == nil {
					order = append(order, i)
				}
			}()
			synctest.Wait()
		}
		for range 11 {
			f.Leave()
			synctest.Wait()
		}
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(order, want) {
			t.Errorf("went in as %v, want %v", order, want)
		}
		wantStats(t, f, limit.InFlightStats{Entered: 11})
	})
}

func TestInFlightForgetsCancelledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1, Queue: 3})
		entering(t.Context(), f)
		gone, cancel := context.WithCancel(t.Context())
		first, second, third := entering(t.Context(), f), entering(gone, f), entering(t.Context(), f)
		cancel()
		synctest.Wait()
		if *second != context.Canceled {
			t.Errorf("call with an ended context: got %v, want %v", *second, context.Canceled)
		}
		if err := f.Enter(gone); err != context.Canceled {
			t.Errorf("call with a context that had ended before: got %v, want %v", err, context.Canceled)
		}
		wantStats(t, f, limit.InFlightStats{InFlight: 1, Waiting: 2, Entered: 1, Gone: 2})
		f.Leave()
		f.Leave()
		synctest.Wait()
		if *first != nil || *third != nil {
			t.Errorf("the other calls: got %v and %v, want them admitted", *first, *third)
		}
		f.Leave()
		wantStats(t, f, limit.InFlightStats{Entered: 3, Gone: 2})
	})
}

// TestInFlightLosesNoSlotAsContextEnds ends the context of a waiting call and frees a
// slot before the call can react.
func TestInFlightLosesNoSlotAsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1, Queue: 3})
		entering(t.Context(), f)
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			first, second := entering(ctx, f), entering(t.Context(), f)
			cancel()
			f.Leave()
			synctest.Wait()
			if *first == nil { // it was admitted
				f.Leave()
				synctest.Wait()
			}
			if *second != nil {
				t.Fatalf("the next call: got %v, want it admitted", *second)
			}
			if s := f.Stats(); s.InFlight != 1 || s.Waiting != 0 {
				t.Fatalf("stats %+v, want one in flight", s)
			}
		}
	})
}

// TestInFlightPrefersTheNewest keeps six calls in the queue for more than half of the
// waiting time.
func TestInFlightPrefersTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1, Queue: 6, Wait: time.Second})
		entering(t.Context(), f)
		var old []*error
		for range 6 {
			old = append(old, entering(t.Context(), f))
		}
		time.Sleep(501 * time.Millisecond)
		newest := entering(t.Context(), f)
		for i, err := range old {
			if overtaken := *err == limit.ErrOvertaken; overtaken != (i < 2) {
				t.Errorf("waiting call %d: got %v, want only the first two overtaken", i, *err)
			}
		}
		f.Leave()
		synctest.Wait()
		if *newest != nil || *old[5] == nil {
			t.Errorf("the newest call got %v and the one before %v, want the newest admitted", *newest, *old[5])
		}
		wantStats(t, f, limit.InFlightStats{InFlight: 1, Waiting: 4, Entered: 2, Overtaken: 2, NewestFirst: true})

		time.Sleep(time.Second) // the other calls time out; none is evicted
		f.Leave()
		entering(t.Context(), f)
		first, second := entering(t.Context(), f), entering(t.Context(), f)
		f.Leave()
		synctest.Wait()
		if *first != nil || *second == nil {
			t.Errorf("after the congestion, the first of two calls got %v and the second %v, want the first admitted",
				*first, *second)
		}
		f.Leave()
		f.Leave()
		wantStats(t, f, limit.InFlightStats{Entered: 5, Overtaken: 2, Waited: 4})
	})
}

// A gauge is a current number and its maximum.
type gauge struct {
	mu        sync.Mutex // guards both
	now, most int
}

func (g *gauge) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now += n
	g.most = max(g.most, g.now)
}

// A load is a constant rate of requests with a fixed service time.
type load struct {
	options   limit.InFlightOptions
	service   time.Duration
	perSecond int
	length    time.Duration
}

// run runs l and returns the sorted waiting times of admitted and of refused requests,
// and the most requests in flight.
func (l load) run(t *testing.T) (in, out []time.Duration, most int) {
	f := limit.NewInFlight(l.options)
	var mu sync.Mutex
	var inside gauge
	var clients sync.WaitGroup
	for range int(l.length.Seconds() * float64(l.perSecond)) {
		time.Sleep(time.Second / time.Duration(l.perSecond))
		clients.Go(func() {
			begin := time.Now()
			err := f.Enter(t.Context())
			waited := time.Since(begin)
			mu.Lock()
			if err != nil {
				out = append(out, waited)
			} else {
				in = append(in, waited)
			}
			mu.Unlock()
			if err != nil {
				return
			}
			inside.add(1)
			time.Sleep(l.service)
			inside.add(-1)
			f.Leave()
		})
	}
	clients.Wait()
	s := f.Stats()
	if refused := s.Full + s.Waited + s.Overtaken + s.Gone; s.InFlight != 0 || s.Waiting != 0 ||
		s.Entered != uint64(len(in)) || refused != uint64(len(out)) {
		t.Errorf("stats %+v, want all gone, %d entered and %d refused", s, len(in), len(out))
	}
	slices.Sort(in)
	slices.Sort(out)
	return in, out, inside.most
}

// TestInFlightKeepsCapacityInOverload sends 5,000 requests per second to a service that can handle
// 1,000, and checks throughput and waiting times.
func TestInFlightKeepsCapacityInOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out, most := load{
			options: limit.InFlightOptions{Max: 100, Queue: 200, Wait: 200 * time.Millisecond},
			service: 100 * time.Millisecond, perSecond: 5000, length: 10 * time.Second,
		}.run(t)
		if most != 100 {
			t.Errorf("%d in flight, want 100", most)
		}
		if got := len(in); got < 9_900 || got > 10_300 {
			t.Errorf("%d admitted in 10s, want the capacity, 10,000", got)
		}
		if p99 := in[len(in)*99/100]; p99 > 100*time.Millisecond {
			t.Errorf("p99 of the wait of admitted requests: got %v, want at most the service time", p99)
		}
		if p50 := in[len(in)/2]; p50 > 15*time.Millisecond {
			t.Errorf("p50 of the wait of admitted requests: got %v, want at most 15ms", p50)
		}
		if p90 := out[len(out)*9/10]; p90 > 5*time.Millisecond {
			t.Errorf("p90 of the wait of rejected requests: got %v, want at most 5ms", p90)
		}
		if last := out[len(out)-1]; last > 200*time.Millisecond {
			t.Errorf("longest wait of rejected requests: got %v, want at most the waiting time", last)
		}
	})
}

// TestInFlightRefusesSoonInAStall sends 5,000 requests per second to a service that takes 10 s, and
// checks that nearly all are refused within 5 ms.
func TestInFlightRefusesSoonInAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out, most := load{
			options: limit.InFlightOptions{Max: 100, Queue: 100, Wait: time.Second},
			service: 10 * time.Second, perSecond: 5000, length: 11 * time.Second,
		}.run(t)
		if len(in) < 200 || most != 100 {
			t.Errorf("%d admitted, at most %d in flight, want 200 and 100", len(in), most)
		}
		if p99 := out[len(out)*99/100]; p99 > 5*time.Millisecond {
			t.Errorf("p99 of the wait of rejected requests: got %v, want at most 5ms", p99)
		}
	})
}

// TestInFlightServesManyClientsInTime runs 2,000 clients against a service that takes 100 ms. Each
// client sends its next request after a response or a refusal.
func TestInFlightServesManyClientsInTime(t *testing.T) {
	const service, wait, length = 100 * time.Millisecond, 200 * time.Millisecond, 5 * time.Second
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 100, Queue: 100, Wait: wait})
		var inside gauge
		var mu sync.Mutex
		var answered []time.Duration
		var clients sync.WaitGroup
		for i := range 2000 {
			clients.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 7))
				for end := time.Now().Add(length); time.Now().Before(end); {
					time.Sleep(time.Duration(random.Int64N(int64(200 * time.Millisecond))))
					begin := time.Now()
					if f.Enter(t.Context()) != nil {
						if waited := time.Since(begin); waited > wait {
							t.Errorf("refused after %v, want at most the waiting time", waited)
						}
						continue
					}
					inside.add(1)
					time.Sleep(service)
					inside.add(-1)
					f.Leave()
					mu.Lock()
					answered = append(answered, time.Since(begin))
					mu.Unlock()
				}
			})
		}
		clients.Wait()
		slices.Sort(answered)
		s := f.Stats()
		t.Logf("answered %d in p50 %v, p99 %v; %+v", len(answered), answered[len(answered)/2],
			answered[len(answered)*99/100], s)
		if p99 := answered[len(answered)*99/100]; p99 > 2*service {
			t.Errorf("p99 of admitted requests: got %v, want at most twice the service time", p99)
		}
		if inside.most != 100 || s.Entered != uint64(len(answered)) || len(answered) < 1000*int(length.Seconds())-500 {
			t.Errorf("%d in flight, %d entered, %d answered; want 100 in flight and full capacity", inside.most,
				s.Entered, len(answered))
		}
	})
}

// TestInFlightAdmitsBurstsThatFit sends a burst every two seconds to an otherwise idle service, and
// checks that no request is refused.
func TestInFlightAdmitsBurstsThatFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 10, Queue: 100, Wait: time.Second})
		var refused atomic.Int64
		var clients sync.WaitGroup
		for range 5 {
			for range 110 { // takes eleven times 80 ms, longer than half of the waiting time
				clients.Go(func() {
					if f.Enter(t.Context()) != nil {
						refused.Add(1)
						return
					}
					time.Sleep(80 * time.Millisecond)
					f.Leave()
				})
			}
			time.Sleep(2 * time.Second)
		}
		clients.Wait()
		if got := refused.Load(); got != 0 {
			t.Errorf("%d of bursts that fit were refused", got)
		}
		wantStats(t, f, limit.InFlightStats{Entered: 550})
	})
}

// TestInFlightLosesNothing runs goroutines that enter, wait, give up and leave at
// random, in real time.
func TestInFlightLosesNothing(t *testing.T) {
	const most, clients, rounds = 5, 64, 250
	f := limit.NewInFlight(limit.InFlightOptions{Max: most, Queue: 20, Wait: 300 * time.Microsecond})
	var inside, entered, refused atomic.Int64
	var all sync.WaitGroup
	for seed := range uint64(clients) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1))
			for range rounds {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(600))*time.Microsecond)
				if err := f.Enter(ctx); err != nil {
					refused.Add(1)
				} else {
					entered.Add(1)
					if n := inside.Add(1); n > most {
						t.Errorf("%d in flight, want at most %d", n, most)
					}
					for range random.IntN(2000) {
						_ = ctx.Err()
					}
					inside.Add(-1)
					f.Leave()
				}
				cancel()
			}
		})
	}
	all.Wait()
	s := f.Stats()
	if s.InFlight != 0 || s.Waiting != 0 {
		t.Errorf("%d in flight and %d waiting at the end", s.InFlight, s.Waiting)
	}
	if got := s.Full + s.Waited + s.Overtaken + s.Gone; got != uint64(refused.Load()) ||
		s.Entered != uint64(entered.Load()) {
		t.Errorf("counted %d entered and %d refused, want %d and %d", s.Entered, got, entered.Load(), refused.Load())
	}
	if got := entered.Load() + refused.Load(); got != clients*rounds {
		t.Errorf("%d answers, want %d", got, clients*rounds)
	}
	t.Logf("%+v", s)
	for range most { // all slots are free again
		if err := f.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Enter(t.Context()); err != limit.ErrWaited {
		t.Errorf("one more than all slots: got %v, want %v", err, limit.ErrWaited)
	}
}

func TestLeaveWithoutEnterPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Leave without Enter did not panic")
		}
	}()
	limit.NewInFlight(limit.InFlightOptions{Max: 1}).Leave()
}
