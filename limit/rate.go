package limit

import (
	"hash/maphash"
	"math"
	"math/bits"
	"net/http"
	"net/netip"
	"time"
)

// RateOptions are the settings of a Rate.
type RateOptions struct {
	// Every is the interval between requests: time.Second/100 allows a hundred per
	// second. Zero sets no limit.
	Every time.Duration
	// Burst is the number of requests that may arrive at once after a pause; 0 is 1.
	// Every*Burst is capped at a century.
	Burst int
	// Key returns the key of a request, for [Rate.Policy]. If it is nil, the key is the
	// address of the connection, which behind a proxy is the proxy's.
	Key func(*http.Request) Key
	// Keys is about how many keys can have their own bucket at a time; 0 is 65,536.
	// Only keys with a bucket that is not full need one. The memory is at most 40 bytes
	// for each of Keys, and a kilobyte.
	Keys int
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
	start       time.Time
	shards      []shard // none: no limit
	shardBits   int
}

// A Decision is the result of [Rate.Allow] for one request.
type Decision struct {
	// OK reports whether the request is admitted.
	OK bool
	// Remaining is the number of requests that would still be admitted at this moment.
	Remaining int
	// Reset is the time until the bucket is full again.
	Reset time.Duration
	// RetryAfter is the time until the next request would be admitted if no other
	// arrives; 0 if this request is admitted.
	RetryAfter time.Duration
}

// RateStats are the counts of a Rate since it was made.
type RateStats struct {
	Admitted, Refused uint64
	// Shared is the number of admitted and refused requests that used a shared bucket.
	Shared uint64
	// Keys is the number of buckets that were not full at the last request of their
	// shard.
	Keys int
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
	r := &Rate{every: int64(o.Every), fill: int64(o.Every) * int64(o.Burst), key: o.Key, start: time.Now()}
	r.shardBits = bits.Len(uint(min(max(o.Keys/keysInShard, 1), maxShards))) - 1
	r.shards = make([]shard, 1<<r.shardBits)
	share := (o.Keys + len(r.shards) - 1) / len(r.shards)
	if len(r.shards) > 1 {
		share += share / 8 // keys are not spread quite evenly
	}
	for i := range r.shards {
		r.shards[i].init(share, r.shardBits)
	}
	return r
}

// Allow takes a token from the bucket of key if it has one. now should have a monotonic
// reading, as time.Now has. Then setting the clock has no effect, and a call that is later
// than one with a newer time counts as one at that time. Without a monotonic reading, a clock
// set an hour forward fills the buckets, and one set back by more than a second counts as no
// time passed; a call that is so late looks the same.
func (r *Rate) Allow(now time.Time, key Key) Decision {
	if len(r.shards) == 0 {
		return Decision{OK: true, Remaining: math.MaxInt}
	}
	hash := max(key.hash, 1)
	return r.decision(r.take(&r.shards[hash>>(64-r.shardBits)], hash, now))
}

// take takes a token from the bucket of a key if it has one. It returns the time until the
// bucket is full again.
func (r *Rate) take(s *shard, hash uint64, now time.Time) (ok bool, reset int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.advance(now, int64(now.Sub(r.start)), r.fill)
	tat := s.bucket(hash, t)
	full := max(*tat, t) + r.every
	if full-t > r.fill {
		s.refused++
		return false, *tat - t
	}
	*tat = full
	s.admitted++
	return true, full - t
}

// decision returns the Decision for a bucket that will be full after reset.
func (r *Rate) decision(ok bool, reset int64) Decision {
	d := Decision{OK: ok, Remaining: int((r.fill - reset) / r.every), Reset: time.Duration(reset)}
	if !ok {
		d.RetryAfter = time.Duration(reset + r.every - r.fill)
	}
	return d
}

// Stats returns the counts. It scans the buckets shard by shard: about a millisecond
// for each 100,000 keys, of which other calls wait for a fraction.
func (r *Rate) Stats() RateStats {
	var sum RateStats
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		sum.Admitted += s.admitted
		sum.Refused += s.refused
		sum.Shared += s.sharedDecisions
		sum.Keys += s.live()
		s.mu.Unlock()
	}
	return sum
}

// A Key identifies a client or another owner of a bucket. It is a 64-bit hash with a
// seed of this process. A client cannot choose two names with the same key, and among a
// million names two share one with a probability of 3 in 100 million. Another process
// has other keys.
type Key struct{ hash uint64 }

var addressSeed, stringSeed = maphash.MakeSeed(), maphash.MakeSeed()

// KeyOf returns the key of a client's address. An IPv6 address counts as its /64, which
// is the network of one customer with any address in it. An IPv4 address counts by
// itself, also if it is written as IPv6 (::ffff:192.0.2.1). An invalid address has the
// key of the unspecified one.
func KeyOf(a netip.Addr) Key {
	b := a.As16()
	if a.Is4() || a.Is4In6() {
		return keyOf(maphash.Bytes(addressSeed, b[:]))
	}
	return keyOf(maphash.Bytes(addressSeed, b[:8]))
}

// KeyOfString returns the key of another name, such as a route or the value of a
// header.
func KeyOfString(s string) Key { return keyOf(maphash.String(stringSeed, s)) }

// keyOf never uses the hash 0, which marks an empty slot.
func keyOf(hash uint64) Key { return Key{max(hash, 1)} }
