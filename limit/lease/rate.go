package lease

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weirhq/weir/limit"
)

// A rate has the buckets of a [limit.Rate], which the replicas of a fleet share.
//
// If all leases are in use, new keys share leases that no bucket backs. These get the rate
// divided by the number of replicas.
type rate struct {
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

	admitted, refused, sharedDecisions uint64

	_ [64]byte // a cache line between the locks of two shards
}

const (
	defaultKeys  = 1 << 16
	keysInShard  = 1024 // at least, for shards that fill evenly
	maxShards    = 64
	sharedLeases = 16 // in each shard
	evictionTry  = 16 // number of leases
)

// Rate returns a rate whose buckets are in the store. All replicas with the same name, Every and
// Burst share the buckets; name is a part of their keys. The memory is about 350 bytes for each of
// Keys. If a request needs more tokens than the replica has leased, it is refused, and the replica
// leases as many for the next attempt, if the bucket has them then. Requests of the whole Burst
// get fewer tokens than the rate, because the bucket is full until the next attempt.
func (c *Leaser) Rate(name string, o limit.RateOptions) *limit.Rate {
	if o.Keys <= 0 {
		o.Keys = defaultKeys
	}
	o.Burst = min(max(o.Burst, 1), math.MaxInt64/int(max(o.Every, 1)))
	q := quota{fleet: &c.fleet, every: o.Every, burst: int64(o.Burst), keys: o.Keys > 1}
	r := &rate{quota: q, leaser: c, name: name, spread: rand.Uint64() | 1}
	r.shards = make([]shard, min(max(o.Keys/keysInShard, 1), maxShards))
	for i := range r.shards {
		r.shards[i].most = max(1, o.Keys/len(r.shards))
		r.shards[i].leases = make(map[uint64]*lease)
	}
	o.Buckets = r
	return limit.NewRate(o)
}

// Take takes n tokens for a request.
func (r *rate) Take(now time.Time, key limit.Key, n int) limit.Decision {
	var hash uint64
	if r.keys {
		hash = key.Sum64()
	}
	s := &r.shards[hash*r.spread>>32%uint64(len(r.shards))] // spread keeps clients from choosing the shard
	at, count := now.Sub(r.leaser.began), int64(n)
	s.mu.Lock()
	l := s.leases[hash]
	if l == nil {
		l = r.add(s, hash, at)
	}
	if l.key == "" {
		s.sharedDecisions++
	}
	if l.idle {
		l.wake(at)
		r.leaser.enqueue(l)
	}
	ok := count <= r.burst && l.left() >= count
	if ok {
		l.tokens -= count
		l.used += count
		s.admitted++
	} else {
		l.refuse(count)
		s.refused++
	}
	left := l.left()
	if left <= l.low || l.wanted > 0 && l.low > math.MinInt64 {
		r.leaser.enqueue(l)
	}
	onCredit := time.Duration(max(0, -l.tokens)) * r.every // the store does not know of these yet
	tokenAt, reset := l.tokenAt, max(0, l.fullsAt-at)+onCredit
	s.mu.Unlock()
	d := limit.Decision{OK: ok, Remaining: int(max(0, left)), Reset: reset}
	if !ok && count <= r.burst {
		d.RetryAfter = max(tokenAt-at, reset-time.Duration(r.capacity()-count)*r.every, turnTime)
		d.Reset = max(d.Reset, d.RetryAfter)
	}
	return d
}

// add makes the lease of a new key. s.mu is held.
func (r *rate) add(s *shard, key uint64, now time.Duration) *lease {
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
func (r *rate) bucket(key uint64) string {
	name := fmt.Sprintf("%s:%v,%d", r.name, r.every, r.burst)
	if !r.keys {
		return r.leaser.key("bucket", name)
	}
	return fmt.Sprintf("%s:%016x", r.leaser.key("bucket", name), key)
}

// Stats returns the counts.
func (r *rate) Stats() limit.RateStats {
	var sum limit.RateStats
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		sum.Admitted += s.admitted
		sum.Refused += s.refused
		sum.Shared += s.sharedDecisions
		sum.Keys += len(s.leases)
		s.mu.Unlock()
	}
	return sum
}
