package lease_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// A holder is a replica with a limit of requests in flight.
type holder struct {
	limit *limit.InFlight
	slots *lease.Slots
	end   context.CancelFunc
}

func newHolder(t *testing.T, store lease.Store, slots int) *holder {
	t.Helper()
	h := &holder{limit: limit.NewInFlight(limit.InFlightOptions{Max: slots})}
	l := lease.New(store, lease.Options{})
	h.slots = l.Slots(lease.SlotsOptions{Name: "in", Max: slots, Most: slots, Limit: h.limit})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { l.Run(ctx); close(done) }()
	h.end = func() { cancel(); <-done }
	return h
}

// enter begins n requests, and reports whether all were admitted.
func (h *holder) enter(n int) bool {
	for range n {
		if !h.limit.TryEnter() {
			return false
		}
	}
	return true
}

func TestSlotsMoveWithTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(leasetest.Store)
		a, b := newHolder(t, store, 20), newHolder(t, store, 20)
		defer a.end()
		defer b.end()
		time.Sleep(time.Second)
		if a.slots.Granted() != 10 || b.slots.Granted() != 10 {
			t.Fatalf("%d and %d slots without a load, want a half each", a.slots.Granted(), b.slots.Granted())
		}
		if !a.enter(10) || a.limit.TryEnter() {
			t.Fatal("a replica has not admitted just its part")
		}
		time.Sleep(3 * time.Second)
		if n := a.slots.Granted(); n < 14 {
			t.Errorf("%d slots for the replica with a load, want more than its part", n)
		}
		for range 10 {
			a.limit.Leave()
		}
		time.Sleep(2 * time.Second)
		if !b.enter(10) {
			t.Error("the replica has less than its part")
		}
		time.Sleep(3 * time.Second)
		if n := b.slots.Granted(); n < 14 {
			t.Errorf("%d slots after the load has moved, want more than a part", n)
		}
		if n := a.slots.Granted() + b.slots.Granted(); n > 20 {
			t.Errorf("%d slots in sum, want at most 20", n)
		}
	})
}

// TestCutReplicaKeepsAnEqualPart cuts a replica with most of the slots off from the store, for ever. It keeps an
// equal part. Both together never have more slots than there are. A new replica then replaces it.
func TestCutReplicaKeepsAnEqualPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, n := new(leasetest.Store), new(network)
		a := newHolder(t, store, 20)
		cut := newHolder(t, cutStore{store, n}, 20)
		defer a.end()
		defer cut.end()
		time.Sleep(time.Second)
		cut.enter(10)
		time.Sleep(3 * time.Second)
		cut.enter(20)
		time.Sleep(3 * time.Second)
		if n := cut.slots.Granted(); n < 15 {
			t.Fatalf("%d slots of the replica with a load, want most", n)
		}
		n.setBroken(true)
		a.enter(1)
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			for a.enter(1) { // and more requests wait
			}
			if n := a.slots.Granted() + cut.slots.Granted(); n > 20 {
				t.Fatalf("%d slots in sum, want at most 20", n)
			}
		}
		if a, cut := a.slots.Granted(), cut.slots.Granted(); a != 10 || cut != 10 {
			t.Errorf("%d slots, and %d of the replica that is cut off; want equal parts", a, cut)
		}
		next := newHolder(t, store, 20)
		defer next.end()
		time.Sleep(5 * time.Second)
		if n := a.slots.Granted() + next.slots.Granted(); n < 19 {
			t.Errorf("%d slots beside a replica that was replaced, want all", n)
		}
	})
}

// TestCutReplicaWithFewSlotsGetsAnEqualPart cuts a replica off from the store while another one has most of the slots. It
// gets an equal part, but not before the other one leaves it.
func TestCutReplicaWithFewSlotsGetsAnEqualPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, n := new(leasetest.Store), new(network)
		busy := newHolder(t, store, 20)
		cut := newHolder(t, cutStore{store, n}, 20)
		defer busy.end()
		defer cut.end()
		time.Sleep(time.Second)
		for range 60 {
			busy.enter(20)
			time.Sleep(100 * time.Millisecond)
		}
		if n := cut.slots.Granted(); n > 5 {
			t.Fatalf("%d slots of the replica without requests, want few", n)
		}
		n.setBroken(true)
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			if n := busy.slots.Granted() + cut.slots.Granted(); n > 20 {
				t.Fatalf("%d slots in sum, want at most 20", n)
			}
		}
		if busy, cut := busy.slots.Granted(), cut.limit.Stats().Max; busy != 10 || cut != 10 {
			t.Errorf("%d slots, and a limit of %d of the replica that is cut off; want equal parts", busy, cut)
		}
	})
}

// TestLostCallsNeverExceedTheSlots loses calls of two replicas whose load moves. Both together never have more slots
// than there are.
func TestLostCallsNeverExceedTheSlots(t *testing.T) {
	for _, lost := range []lossPoint{lostBefore, lostAfter, lostAnywhere, lostLate} {
		synctest.Test(t, func(t *testing.T) {
			store, holders := new(leasetest.Store), []*holder(nil)
			for i := range 2 {
				l := &link{Store: store, lost: lost, rand: rand.New(rand.NewPCG(1, uint64(i)))}
				holders = append(holders, newHolder(t, l, 20))
				defer holders[i].end()
				defer l.setFail(0)
				time.AfterFunc(time.Second, func() { l.setFail(0.3) })
			}
			time.Sleep(2 * time.Second)
			for i := range 1000 {
				busy, other := holders[i/100%2], holders[1-i/100%2]
				busy.enter(20)
				for range other.limit.Stats().InFlight {
					other.limit.Leave()
				}
				if n := busy.slots.Granted() + other.slots.Granted(); n > 20 {
					t.Fatalf("%v: %d slots in sum, want at most 20", lost, n)
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
}

// A cutStore is a store with a network for one replica.
type cutStore struct {
	*leasetest.Store
	network *network
}

func (s cutStore) Hold(ctx context.Context, h *lease.Hold) error {
	if err := s.network.before(1); err != nil {
		return err
	}
	return s.Store.Hold(ctx, h)
}

func (s cutStore) Join(ctx context.Context, j *lease.Join) error {
	if err := s.network.before(1); err != nil {
		return err
	}
	return s.Store.Join(ctx, j)
}

// TestSlotsMoveSoonAfterAFlood refuses many requests at a replica. When they end, its slots soon are those of
// another one: the number of the refused requests does not matter.
func TestSlotsMoveSoonAfterAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(leasetest.Store)
		a, b := newHolder(t, store, 20), newHolder(t, store, 20)
		defer a.end()
		defer b.end()
		time.Sleep(time.Second)
		for a.limit.TryEnter() {
		}
		for range 100_000 {
			if err := a.limit.Enter(t.Context()); err != limit.ErrFull {
				t.Fatal(err)
			}
		}
		time.Sleep(500 * time.Millisecond)
		for range a.limit.Stats().InFlight {
			a.limit.Leave()
		}
		time.Sleep(1500 * time.Millisecond)
		if n := b.slots.Granted(); n < 9 {
			t.Errorf("%d slots beside a replica without requests, want half", n)
		}
	})
}

// TestClosedSlotsDoNotChangeTheLimit closes slots and raises the limit, as a reload does after which replicas do not
// share it. A response that arrives later, or the time without a store, does not lower it.
func TestClosedSlotsDoNotChangeTheLimit(t *testing.T) {
	raise := func(t *testing.T, h *holder) {
		t.Helper()
		h.slots.Close()
		h.limit.ChangeMax(200)
		time.Sleep(10 * time.Second)
		if n := h.limit.Stats().Max; n != 200 {
			t.Errorf("the limit is %d after the slots were closed, want 200", n)
		}
	}
	t.Run("before a response", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &leasetest.Store{Before: func(int) error { time.Sleep(callTimeout / 2); return nil }}
			h := newHolder(t, store, 20)
			defer h.end()
			time.Sleep(callTimeout / 4)
			raise(t, h)
		})
	})
	t.Run("without the store", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, n := new(leasetest.Store), new(network)
			other := newHolder(t, store, 20)
			cut := newHolder(t, cutStore{store, n}, 20)
			defer other.end()
			defer cut.end()
			time.Sleep(time.Second)
			cut.enter(10)
			time.Sleep(3 * time.Second)
			if n := cut.slots.Granted(); n <= 10 {
				t.Fatalf("%d slots of the replica with a load, want more than its part", n)
			}
			n.setBroken(true)
			time.Sleep(time.Second)
			raise(t, cut)
		})
	})
}

// TestLimitFollowsSlotsAfterAReload sets the limit to another number than that of the slots, as a reload does that reads
// it just before a response changes it.
func TestLimitFollowsSlotsAfterAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolder(t, new(leasetest.Store), 20)
		defer h.end()
		time.Sleep(time.Second)
		h.limit.ChangeMax(5)
		time.Sleep(time.Second)
		if most, slots := h.limit.Stats().Max, h.slots.Granted(); most != 20 || slots != 20 {
			t.Errorf("the limit is %d with %d slots, want 20", most, slots)
		}
	})
}
