// Package leasetest has a store in memory for tests of shared limits. Its algorithm is the
// plain form of that of real stores, and is compared with them.
package leasetest

import (
	"context"
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
	replicas map[string]map[string]time.Time   // the end of each, by key
	holders  map[string]map[string]*lease.Hold // by key and replica
	ends     map[*lease.Hold]time.Time
	counts   Counts
}

// Counts are the numbers of calls and of their parts.
type Counts struct{ Calls, Exchanges, Taken int64 }

type bucket struct {
	fullAt time.Time
	total  int64
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
	b := s.buckets[x.Key]
	if b == nil || now.Sub(b.fullAt) > keepTotal {
		if s.buckets == nil {
			s.buckets = make(map[string]*bucket)
		}
		b = &bucket{fullAt: now}
		s.buckets[x.Key] = b
	}
	missing := max(0, b.fullAt.Sub(now)) + time.Duration(x.Used)*x.Every // time until the bucket is full
	x.Taken = x.Used
	if x.Want > 0 {
		x.Taken += min(x.Want, max(0, int64((x.Fill-missing)/x.Every)))
	} else {
		x.Taken += x.Want
	}
	missing = max(0, missing+time.Duration(x.Taken-x.Used)*x.Every)
	b.fullAt, b.total = now.Add(missing), b.total+x.Taken
	s.counts.Taken += x.Taken
	x.Remaining, x.Reset, x.Total = max(0, int64((x.Fill-missing)/x.Every)), missing, b.total
	x.Retry = max(0, missing+x.Every-x.Fill)
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
	held, wanted, n := 0, h.Want, 1
	for replica, other := range all {
		if !time.Now().Before(s.ends[other]) {
			delete(all, replica)
			continue
		}
		held, wanted, n = held+other.Granted, wanted+other.Want, n+1
	}
	if h.Used == 0 && h.Want == 0 {
		return nil
	}
	share := h.Want + (h.Max-wanted)/n
	if wanted > h.Max {
		share = h.Max * h.Want / wanted
	}
	h.Granted = max(1, min(share, h.Max-held))
	holds := *h
	holds.Granted = max(h.Granted, h.Used)
	all[h.Replica] = &holds
	s.ends[&holds] = time.Now().Add(h.TTL)
	return nil
}

// Join implements lease.Store.
func (s *Store) Join(_ context.Context, key, replica string, ttl time.Duration) (int, error) {
	if err := s.begin(1); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replicas == nil {
		s.replicas = make(map[string]map[string]time.Time)
	}
	if s.replicas[key] == nil {
		s.replicas[key] = make(map[string]time.Time)
	}
	s.replicas[key][replica] = time.Now().Add(ttl)
	for other, end := range s.replicas[key] {
		if !time.Now().Before(end) {
			delete(s.replicas[key], other)
		}
	}
	return len(s.replicas[key]), nil
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
