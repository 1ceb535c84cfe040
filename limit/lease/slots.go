package lease

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/weirhq/weir/limit"
)

const (
	leastSlotsPeriod = 100 * time.Millisecond // between two calls of Hold
	slotsOfReplica   = 10 * time.Millisecond  // of the period, for each replica
	slotsTTL         = AbsentTime + 2*time.Second
	keepSlots        = slotsTTL - time.Second     // for which a replica keeps its slots without the store
	leaveSlotsTime   = AbsentTime + 3*time.Second // until the others have left a silent replica its part
	slotsDecay       = 0.8                        // of the demand, in a period
)

// SlotsOptions are the settings of Slots.
type SlotsOptions struct {
	Name  string          // part of the key of the store
	Max   int             // requests in flight of all replicas together
	Most  int             // requests in flight of this replica
	Limit *limit.InFlight // whose Max follows the number of slots of this replica
}

// Slots are the part of a limit of requests in flight that a replica has. It follows the
// demand. A replica always has one slot at least, so a fleet with more replicas than slots may
// exceed Max. A replica that cannot reach the store keeps its slots for 6 s, and then at most an
// equal part of Max, which the others leave to it. If it has fewer, it takes this part after 8 s
// without a response. Requests in flight are not ended.
//
// Make Slots with [Leaser.Slots]. Goroutines may share them.
type Slots struct {
	leaser *Leaser
	key    string
	limit  *limit.InFlight

	// guarded by leaser.mu:
	max     int
	most    int // of this replica
	granted int // 0 before the first result
	closed  bool

	// of the goroutine of the Leaser:
	next    time.Duration // the next call of Hold
	calling bool
	held    time.Duration // the last call that ended well began
	want    float64
	full    uint64 // requests that were refused before the last call
}

// Slots returns the slots of a limit. Call Close when they are not used any more.
func (c *Leaser) Slots(o SlotsOptions) *Slots {
	s := &Slots{leaser: c, key: c.key("in_flight", o.Name), limit: o.Limit, max: o.Max, most: o.Most}
	s.full = o.Limit.Stats().Full
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots = append(c.slots, s)
	return s
}

// Granted returns the number of slots that the replica has. Before the first response of the
// store, these are all of them.
func (s *Slots) Granted() int {
	s.leaser.mu.Lock()
	defer s.leaser.mu.Unlock()
	if s.granted == 0 {
		return min(s.max, s.most)
	}
	return s.granted
}

// Change changes Max and Most. The slots of the replica change after the next call of the store.
func (s *Slots) Change(all, most int) {
	s.leaser.mu.Lock()
	defer s.leaser.mu.Unlock()
	s.max, s.most = all, most
}

// Close returns the slots. They do not change the limit any more, so the caller may then set other
// options of it.
func (s *Slots) Close() {
	s.leaser.mu.Lock()
	defer s.leaser.mu.Unlock()
	s.closed = true
}

// hold calls the store for the slots that are due.
func (c *Leaser) hold(now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.slots {
		s.takePart(now)
		if c.down.Load() || s.calling || now < s.next && !s.closed {
			continue
		}
		s.calling = true
		h := s.call()
		ends, sent := s.closed, now
		c.call(func() func(time.Duration) {
			err := c.store.Hold(context.Background(), &h)
			return func(now time.Duration) { s.apply(&h, ends, err, sent, now) }
		})
	}
}

// takePart gives a replica that does not reach the store its part of the slots. leaser.mu is held.
func (s *Slots) takePart(now time.Duration) {
	part := min(s.part(), s.most)
	heard := max(s.held, time.Duration(s.leaser.heard.Load()))
	tooMany := s.granted > part && now-s.held >= keepSlots
	tooFew := 0 < s.granted && s.granted < part && s.leaser.down.Load() && now-heard >= leaveSlotsTime
	if tooMany || tooFew {
		s.grant(part)
	}
}

// call returns the call of the store for the present demand. leaser.mu is held.
func (s *Slots) call() Hold {
	h := Hold{Key: s.key, Replica: s.leaser.replica, Max: s.max, TTL: slotsTTL, Granted: s.granted,
		Left: s.leaser.members.Absent * s.part()}
	if s.closed {
		return h
	}
	stats := s.limit.Stats()
	need := float64(stats.InFlight + stats.Waiting + int(stats.Full-s.full) + 1)
	s.full = stats.Full
	s.want = min(max(need, s.want*slotsDecay), float64(s.max), float64(s.most))
	h.Used, h.Want = stats.InFlight, int(math.Ceil(s.want))
	return h
}

// apply applies the result of a call.
func (s *Slots) apply(h *Hold, ended bool, err error, sent, now time.Duration) {
	c := s.leaser
	if err != nil {
		c.fail(now, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.calling = false
	period := time.Duration(c.replicas.Load()) * slotsOfReplica
	s.next = now + jitter(min(max(period, leastSlotsPeriod), mostPeriod))
	switch {
	case ended:
		c.slots = slices.DeleteFunc(c.slots, func(other *Slots) bool { return other == s })
	case err == nil:
		s.held = sent
		s.grant(min(h.Granted, s.most))
	}
}

// part returns the slots of a replica that is absent. leaser.mu is held.
func (s *Slots) part() int { return max(1, s.max/int(s.leaser.replicas.Load())) }

// grant changes the number of slots of the replica, unless they are closed. leaser.mu is held.
func (s *Slots) grant(n int) {
	if s.closed {
		return
	}
	s.granted = n
	s.limit.ChangeMax(n) // also without a change: a reload may have set an older number meanwhile
}

// leaveSlots returns all slots.
func (c *Leaser) leaveSlots(ctx context.Context) {
	c.mu.Lock()
	slots := c.slots
	c.mu.Unlock()
	for _, s := range slots {
		h := Hold{Key: s.key, Replica: c.replica, Max: s.max}
		if c.store.Hold(ctx, &h) != nil {
			return
		}
	}
}
