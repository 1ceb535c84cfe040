// Package leasetest has a store in memory for tests of shared limits. Its algorithm is the
// plain form of the algorithm of real stores, and is compared with them.
package leasetest

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/weirhq/weir/limit/lease"
)

// A Store is a [lease.Store] in memory, which runs in the time of a synctest bubble if it is
// used in one.
type Store struct {
	// Before, if not nil, is called before each call, with the number of buckets that the call
	// is about. It may wait, as for a network, or return an error, as without one.
	Before func(buckets int) error

	mu       sync.Mutex // guards the fields below
	buckets  map[string]*bucket
	replicas map[string]map[string]time.Time   // the last response to each, by key
	holders  map[string]map[string]*lease.Hold // by key and replica
	ends     map[*lease.Hold]time.Time
	counts   Counts
}

// Counts are the numbers of calls and of their parts.
type Counts struct{ Calls, Exchanges, Taken int64 }

type bucket struct {
	fullAt, at time.Time // at is the last exchange
	total      float64
	leases     map[owner]*taker
}

// An owner is the replica of a lease, and the number of the lease.
type owner struct {
	replica string
	number  int64
}

// A taker is a lease.
type taker struct {
	taken         float64
	share, weight float64
	at            time.Time // the last exchange
}

// keepTotal is the time after which a full bucket is forgotten.
const keepTotal = 10 * time.Second

// Exchange implements lease.Store.
func (s *Store) Exchange(_ context.Context, batch []lease.Exchange) error {
	if err := s.begin(len(batch)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range batch {
		s.exchange(&batch[i], time.Now())
	}
	s.counts.Exchanges += int64(len(batch))
	return nil
}

func (s *Store) begin(buckets int) error {
	s.mu.Lock()
	before := s.Before
	s.counts.Calls++
	s.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(buckets)
}

func (s *Store) exchange(x *lease.Exchange, now time.Time) {
	b := s.bucket(x.Key, now)
	every := float64(x.Every)
	shares, weights, n := b.sum(now)
	missing := max(0, float64(b.fullAt.Sub(b.at))) - (1-shares-reserved(x, n))*float64(now.Sub(b.at)) // time until it is full
	missing = max(0, missing)

	o := owner{x.Replica, x.Lease}
	t := b.leases[o]
	if t == nil {
		t = &taker{taken: float64(x.Taken), at: now}
		b.leases[o] = t
	}
	if t.share > 0 {
		n--
	}
	shares, weights = shares-t.share, weights-t.weight
	before, got := t.taken, t.share*float64(now.Sub(t.at))/every
	t.taken += got

	used, most := float64(x.Used), float64(x.Used+x.Want)
	taken := max(t.taken, used)
	if overdrawn := missing + (taken-t.taken)*every - float64(x.Fill); overdrawn > 0 {
		taken = max(used, taken-overdrawn/every)
	}
	spare := 0.0 // of got, in case that the exchange arrives late: the next one returns it
	if x.Weight > 0 {
		spare = max(0, min(got, taken-most))
	}
	taken = min(taken, most)
	missing += (taken + spare - t.taken) * every
	if more := min(most-taken, math.Floor((float64(x.Fill)-missing)/every)); more > 0 {
		taken += more
		missing += more * every
	}
	missing = max(0, missing)
	b.total += taken + spare - before

	share := newShare(x, shares, weights, n)
	t.taken, t.share, t.weight, t.at = taken+spare, max(share, x.Share), x.Weight, now
	b.fullAt, b.at = now.Add(time.Duration(missing)), now

	remaining := max(0, int64((float64(x.Fill)-missing)/every))
	s.counts.Taken += int64(math.Floor(taken+spare)) - int64(math.Floor(before))
	x.Taken, x.Share, x.Remaining, x.Total = int64(math.Floor(taken)), share, remaining, int64(math.Floor(b.total))
	x.Reset, x.Retry = time.Duration(missing), max(0, time.Duration(missing)+x.Every-x.Fill)
}

// bucket returns the bucket of a key. It is new if it was not used for a long time.
func (s *Store) bucket(key string, now time.Time) *bucket {
	b := s.buckets[key]
	if b == nil || now.Sub(b.fullAt) > keepTotal && now.Sub(b.at) > lease.ShareTTL {
		if s.buckets == nil {
			s.buckets = make(map[string]*bucket)
		}
		b = &bucket{fullAt: now, at: now, leases: make(map[owner]*taker)}
		s.buckets[key] = b
	}
	return b
}

// newShare returns the share for x. n other replicas have the shares and the weights.
func newShare(x *lease.Exchange, shares, weights float64, n int) float64 {
	if x.Weight <= 0 {
		return 0
	}
	weights += x.Weight
	n++
	free := 1 - max(x.Least*float64(max(0, x.Replicas-n)), reserved(x, n))
	share := min(x.Least, free/float64(n)) + max(0, free-float64(n)*x.Least)*x.Weight/weights
	return max(0, min(share, free-shares))
}

// reserved returns the part of the rate of absent replicas, if n replicas have a share.
func reserved(x *lease.Exchange, n int) float64 {
	return min(x.Left, float64(max(0, x.Replicas-n))/float64(x.Replicas))
}

// sum returns the sums of the leases whose shares have not ended.
func (b *bucket) sum(now time.Time) (shares, weights float64, holders int) {
	for o, t := range b.leases {
		if now.Sub(t.at) > lease.ShareTTL {
			delete(b.leases, o)
			continue
		}
		if t.share > 0 {
			holders++
		}
		shares, weights = shares+t.share, weights+t.weight
	}
	return shares, weights, holders
}

// Hold implements lease.Store.
func (s *Store) Hold(_ context.Context, h *lease.Hold) error {
	if err := s.begin(1); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders == nil {
		s.holders, s.ends = make(map[string]map[string]*lease.Hold), make(map[*lease.Hold]time.Time)
	}
	all := s.holders[h.Key]
	if all == nil {
		all = make(map[string]*lease.Hold)
		s.holders[h.Key] = all
	}
	delete(all, h.Replica)
	held, wanted, n, left := 0, h.Want, 1, h.Left
	for replica, other := range all {
		if !time.Now().Before(s.ends[other]) {
			delete(all, replica)
			continue
		}
		held, wanted, n = held+other.Granted, wanted+other.Want, n+1
		if time.Now().After(s.ends[other].Add(lease.AbsentTime - h.TTL)) {
			left -= other.Granted // an absent replica whose slots have not ended
		}
	}
	most := max(1, h.Max-max(0, left))
	if h.Used == 0 && h.Want == 0 {
		h.Granted = 0
		return nil
	}
	share := h.Want + (most-wanted)/n
	if wanted > most {
		share = most * h.Want / wanted
	}
	had := h.Granted
	h.Granted = max(1, min(share, most-held))
	holds := *h
	holds.Granted = max(h.Granted, h.Used, had) // the replica has those that it had if the response is lost
	all[h.Replica] = &holds
	s.ends[&holds] = time.Now().Add(h.TTL)
	return nil
}

// Join implements lease.Store.
func (s *Store) Join(_ context.Context, j *lease.Join) error {
	if err := s.begin(1); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replicas == nil {
		s.replicas = make(map[string]map[string]time.Time)
	}
	if s.replicas[j.Key] == nil {
		s.replicas[j.Key] = make(map[string]time.Time)
	}
	all, now := s.replicas[j.Key], time.Now()
	if j.Leave {
		delete(all, j.Replica)
		return nil
	}
	_, known := all[j.Replica]
	all[j.Replica] = now.Add(-j.Silent)
	replaced := ""
	for other, at := range all {
		switch {
		case now.Sub(at) > lease.ReplicaTTL:
			delete(all, other)
		case !known && j.Silent < lease.AbsentTime && now.Sub(at) > lease.AbsentTime && (replaced == "" || at.Before(all[replaced])):
			replaced = other
		}
	}
	delete(all, replaced)
	j.Replicas, j.Absent, j.Gone = len(all), 0, 0
	for other, at := range all {
		if other == j.Replica {
			continue
		}
		if now.Sub(at) > lease.AbsentTime {
			j.Absent++
		}
		if now.Sub(at) > lease.ShareTTL {
			j.Gone++
		}
	}
	return nil
}

// Empty forgets all, as a restart of the server does.
func (s *Store) Empty() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buckets, s.replicas, s.holders, s.ends = nil, nil, nil, nil
}

// Count returns the counts.
func (s *Store) Count() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// SetBefore changes Before.
func (s *Store) SetBefore(before func(buckets int) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Before = before
}

// Close implements lease.Store.
func (s *Store) Close() error { return nil }
