package limit

import (
	"fmt"
	"math"
	"math/bits"
	"net/http"
	"sync/atomic"
	"time"
)

// RateOptions are the settings of a Rate.
type RateOptions struct {
	// Every is the interval in which a token is added to a bucket: with time.Second/100, a
	// hundred requests per second are admitted. Zero sets no limit.
	Every time.Duration
	// Burst is the number of tokens of a full bucket: the number of requests that may arrive at
	// once after a pause. 0 is 1. Every*Burst is capped at a century.
	Burst int
	// Key returns the key of a request, for [Rate.Policy]. If it is nil, the key is the
	// address of the connection, which behind a proxy is the proxy's.
	Key func(*http.Request) Key
	// Keys is about how many keys can have their own bucket at a time; 0 is 65,536, and 1 is one
	// bucket for all keys. Only keys with a bucket that is not full need one. The memory is at
	// most 40 bytes for each of Keys, and a kilobyte; with Buckets, these determine it.
	Keys int
	// Buckets decide instead of buckets in the memory of this process, if they are not nil. A
	// Leaser of package lease sets them in a Rate that replicas share.
	Buckets Buckets
}

// Buckets are the token buckets of a Rate, outside of package limit. Goroutines share them.
type Buckets interface {
	// Take takes n tokens from the bucket of key if it has as many. n is not negative. If it is
	// more than a full bucket has, the Decision has no RetryAfter. The Rate passes the time and
	// the key that its caller has given; with Keys = 1, the zero Key.
	Take(now time.Time, key Key, n int) Decision
	// Stats returns the counts of the Rate, without Waiting.
	Stats() RateStats
}

const (
	defaultKeys = 1 << 16
	keysInShard = 1024 // at least, for shards that fill evenly
	maxShards   = 256
	century     = 100 * 365 * 24 * time.Hour
)

// A Rate is a token bucket for each key. A bucket holds up to Burst tokens, a request
// takes one, and one is added in each interval Every. Make a Rate with NewRate; the zero
// Rate has no limit and counts nothing. Goroutines may share it.
//
// [Rate.AllowN] decides at once, and [Rate.WaitN] waits for tokens. Requests that wait have
// precedence: as long as one waits for a key, AllowN refuses others.
//
// A bucket is stored as the time when it will be full again, the theoretical arrival
// time of the generic cell rate algorithm (ITU-T I.371, annex A; the "virtual
// scheduling" form). A key without a bucket has a full one by definition, so only full
// buckets are replaced by the buckets of new keys. If no bucket is full, new keys share
// buckets. The alternatives are worse. Evicting a bucket that is not full gives its
// owner a new burst, which a client with many addresses could exploit. Refusing new
// keys lets such a client shut out all others. A shared bucket never admits more than a
// separate one.
type Rate struct {
	every, fill int64                   // nanoseconds; fill is the time in which an empty bucket becomes full
	key         func(*http.Request) Key // nil: by connection
	one         bool                    // all keys have the same bucket
	buckets     Buckets                 // nil: shards
	trying      atomic.Int64            // number of requests that wait for tokens of buckets
	start       time.Time
	shards      []shard
	shardBits   int
}

// A Decision is the result of [Rate.Allow] and [Rate.AllowN].
type Decision struct {
	// OK reports whether the request is admitted.
	OK bool
	// Remaining is the number of tokens that are left: of further requests that would be
	// admitted at this moment.
	Remaining int
	// Reset is the time until the bucket is full again if no other request arrives.
	Reset time.Duration
	// RetryAfter is the time until the request would be admitted if no other arrives. It is 0 if
	// the request is admitted, and if no wait helps, because it needs more tokens than Burst.
	RetryAfter time.Duration
}

// RateStats are the counts of a Rate since it was made. A call of Allow, AllowN or WaitN is one
// request, whatever the number of its tokens.
type RateStats struct {
	// Admitted and Refused are the numbers of requests that got their tokens, and that did not.
	// A request that gives up waiting is refused. With [RateOptions.Buckets], so is each attempt
	// of a request that waits.
	Admitted, Refused uint64
	// Shared is the number of admitted and refused requests that used a shared bucket.
	Shared uint64
	// Keys is the number of buckets that were not full at the last request of their
	// shard.
	Keys int
	// Waiting is the number of requests that wait in WaitN.
	Waiting int
}

// NewRate returns a Rate with full buckets.
func NewRate(o RateOptions) *Rate {
	if o.Every <= 0 {
		return &Rate{}
	}
	if o.Keys <= 0 {
		o.Keys = defaultKeys
	}
	o.Every = min(o.Every, century)
	o.Burst = min(max(o.Burst, 1), int(century/o.Every))
	r := &Rate{every: int64(o.Every), fill: int64(o.Every) * int64(o.Burst), key: o.Key, one: o.Keys == 1,
		buckets: o.Buckets, start: time.Now()}
	if r.buckets == nil {
		r.makeShards(o.Keys)
	}
	return r
}

// makeShards prepares the buckets of a number of keys.
func (r *Rate) makeShards(keys int) {
	r.shardBits = bits.Len(uint(min(max(keys/keysInShard, 1), maxShards))) - 1
	r.shards = make([]shard, 1<<r.shardBits)
	share := (keys + len(r.shards) - 1) / len(r.shards)
	if len(r.shards) > 1 {
		share += share / 8 // keys are not spread quite evenly
	}
	for i := range r.shards {
		r.shards[i].init(share, r.shardBits)
		r.shards[i].fill = r.fill
	}
}

// Allow is [Rate.AllowN] with one token.
func (r *Rate) Allow(now time.Time, key Key) Decision { return r.AllowN(now, key, 1) }

// AllowN takes n tokens from the bucket of key if it has as many, and none otherwise. It does not
// wait. With n = 0 it only looks at the bucket. It panics if n is negative.
//
// now is the current time, and should have a monotonic reading, as time.Now has. Then setting the
// clock has no effect, and a call that is later than one with a newer time counts as one at that
// time. Without a monotonic reading, a clock set an hour forward fills the buckets, and one set
// back by more than a second counts as no time passed; a call that is so late looks the same, and
// so does one with the zero Time.
func (r *Rate) AllowN(now time.Time, key Key, n int) Decision {
	checkTokens(n)
	switch {
	case r.every == 0:
		return Decision{OK: true, Remaining: math.MaxInt}
	case r.one:
		key = Key{}
	}
	if r.buckets != nil {
		return r.buckets.Take(now, key, n)
	}
	hash := key.hash()
	s := r.shard(hash)
	wait, reset := s.allow(hash, now, int64(now.Sub(r.start)), r.cost(n))
	d := Decision{OK: wait == 0, Remaining: int(max(0, r.fill-reset) / r.every), Reset: time.Duration(reset)}
	if n <= r.burst() {
		d.RetryAfter = time.Duration(wait)
	}
	return d
}

func checkTokens(n int) {
	if n < 0 {
		panic(fmt.Sprintf("limit: a request needs %d tokens", n))
	}
}

// shard returns the shard of a hash.
func (r *Rate) shard(hash uint64) *shard { return &r.shards[hash>>(64-r.shardBits)] }

// burst returns the number of tokens of a full bucket.
func (r *Rate) burst() int { return int(r.fill / r.every) }

// cost returns the time in which n tokens are added, or more than fill if a full bucket has fewer.
func (r *Rate) cost(n int) int64 { return int64(min(n, r.burst()+1)) * r.every }

// Stats returns the counts. It scans the buckets shard by shard: about a millisecond
// for each 100,000 keys, of which other calls wait for a fraction.
func (r *Rate) Stats() RateStats {
	if r.buckets != nil {
		sum := r.buckets.Stats()
		sum.Waiting = int(r.trying.Load())
		return sum
	}
	var sum RateStats
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		sum.Admitted += s.admitted
		sum.Refused += s.refused
		sum.Shared += s.sharedDecisions
		sum.Keys += s.live()
		for _, l := range s.lines {
			sum.Waiting += l.waiters.len
		}
		s.mu.Unlock()
	}
	return sum
}
