package lease

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weirhq/weir/limit"
)

// RateOptions are the settings of a Rate.
type RateOptions struct {
	Name  string        // part of the keys of the store
	Every time.Duration // the interval between requests, more than zero
	Burst int           // number of requests that may arrive at once after a pause; 0 is 1
	// Keys is about how many keys can have their own lease at a time; 0 is one key for all
	// requests. A lease takes about 350 bytes.
	Keys int
}

// A Rate is a token bucket for each key, which the replicas of a fleet share. Make one with
// [Leaser.Rate]. Goroutines may share it.
//
// If all leases are in use, new keys share leases that no bucket backs. These get the rate
// divided by the number of replicas.
type Rate struct {
	quota
	leaser *Leaser
	name   string
	spread uint64
	shards []shard
}

// A shard has a part of the leases of a Rate.
type shard struct {
	mu     sync.Mutex // guards all fields and the leases
	leases map[uint64]*lease
	most   int
	shared [sharedLeases]*lease // of keys for which there is no space

	admitted, refused uint64

	_ [64]byte // a cache line between the locks of two shards
}

const (
	keysInShard  = 1024 // at least, for shards that fill evenly
	maxShards    = 64
	sharedLeases = 16 // in each shard
	evictionTry  = 16 // number of leases
)

// RateStats are the counts of a Rate since it was made.
type RateStats struct {
	Admitted, Refused uint64
	Keys              int // leases, including leases that are not in use
}

// Rate returns a rate with its tokens in the store.
func (c *Leaser) Rate(o RateOptions) *Rate {
	q := quota{fleet: &c.fleet, every: o.Every, burst: int64(max(o.Burst, 1)), keys: o.Keys > 0}
	r := &Rate{quota: q, leaser: c, name: o.Name, spread: rand.Uint64() | 1}
	n := min(max(o.Keys/keysInShard, 1), maxShards)
	r.shards = make([]shard, n)
	for i := range r.shards {
		r.shards[i].most = max(1, o.Keys/n)
		r.shards[i].leases = make(map[uint64]*lease)
	}
	return r
}

// Of reports whether the rate has been made by c. The zero pointer has not.
func (r *Rate) Of(c *Leaser) bool { return r != nil && r.leaser == c }

// Allow takes a token for a request. All replicas must have the same key for a client; a Rate
// without keys ignores it. now is the current time, with a monotonic reading.
func (r *Rate) Allow(now time.Time, key uint64) limit.Decision {
	if !r.keys {
		key = 0
	}
	s := &r.shards[key*r.spread>>32%uint64(len(r.shards))] // spread keeps clients from choosing the shard
	at := now.Sub(r.leaser.began)
	s.mu.Lock()
	l := s.leases[key]
	if l == nil {
		l = r.add(s, key, at)
	}
	if l.idle {
		l.wake(at)
		r.leaser.enqueue(l)
	}
	ok := l.left() > 0
	if ok {
		l.tokens--
		l.used++
		s.admitted++
	} else {
		l.refused++
		s.refused++
	}
	left := l.left()
	if left <= l.low {
		r.leaser.enqueue(l)
	}
	tokenAt, fullsAt := l.tokenAt, l.fullsAt
	s.mu.Unlock()
	d := limit.Decision{OK: ok, Remaining: int(max(0, left)), Reset: max(0, fullsAt-at)}
	if !ok {
		d.RetryAfter = max(tokenAt-at, turnTime)
		d.Reset = max(d.Reset, d.RetryAfter)
	}
	return d
}

// add makes the lease of a new key. s.mu is held.
func (r *Rate) add(s *shard, key uint64, now time.Duration) *lease {
	if len(s.leases) >= s.most && !s.evict(now) {
		i := key % sharedLeases
		if s.shared[i] == nil {
			s.shared[i] = &lease{quota: &r.quota, mu: &s.mu, idle: true, granted: now}
			s.shared[i].local = true
			s.shared[i].tokens = s.shared[i].burst(0)
		}
		return s.shared[i]
	}
	l := &lease{quota: &r.quota, mu: &s.mu, key: r.bucket(key), number: r.leaser.leases.Add(1), idle: true}
	s.leases[key] = l
	return l
}

// evict removes a lease that holds nothing and has a full bucket, if it finds one. s.mu is
// held.
func (s *shard) evict(now time.Duration) bool {
	tried := 0
	for key, l := range s.leases {
		if l.idle && now >= l.fullsAt {
			delete(s.leases, key)
			return true
		}
		if tried++; tried == evictionTry {
			break
		}
	}
	return false
}

// bucket returns the store's key of a bucket. Rates that differ have different buckets: the new one
// after a reload begins full, in all replicas.
func (r *Rate) bucket(key uint64) string {
	name := fmt.Sprintf("%s:%v,%d", r.name, r.every, r.burst)
	if !r.keys {
		return r.leaser.key("bucket", name)
	}
	return fmt.Sprintf("%s:%016x", r.leaser.key("bucket", name), key)
}

// Stats returns the counts.
func (r *Rate) Stats() RateStats {
	var sum RateStats
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		sum.Admitted += s.admitted
		sum.Refused += s.refused
		sum.Keys += len(s.leases)
		s.mu.Unlock()
	}
	return sum
}
