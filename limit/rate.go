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
	// Every is the time in which one request more may come: time.Second/100
	// for a hundred per second. Zero sets no limit.
	Every time.Duration
	// Burst is how many may come at once after a pause; 0 is 1. Every*Burst
	// counts as at most a century.
	Burst int
	// Key returns the key of a request, for [Rate.Policy]. If it is nil, requests
	// count for the address of their connection, which behind a proxy is the
	// proxy's.
	Key func(*http.Request) Key
	// Keys is about how many keys have a bucket of their own at a time; 0 is
	// 65,536. Only a key whose bucket is not full needs one. There are never more
	// than 40 bytes for each of Keys, and a kilobyte.
	Keys int
}

const (
	defaultKeys = 1 << 16
	keysInShard = 1024 // at least, so that shards fill evenly
	maxShards   = 256
	century     = 100 * 365 * 24 * time.Hour
)

// A Rate is a token bucket for each key: it holds Burst tokens, a request takes
// one, and one comes back every Every. Make one with NewRate; the zero Rate has no
// limit and counts nothing. Any number of goroutines may share it.
//
// What is kept of a bucket is one instant, that at which it is full again: the
// theoretical arrival time of the generic cell rate algorithm (ITU-T I.371,
// annex A; the "virtual scheduling" form). A bucket that is full again is that
// of a key never seen, so it is forgotten, and only such buckets make room for
// others. When there is no room, a new key shares a bucket with other new keys
// until there is. The alternatives are worse: to evict a bucket that is not
// full hands its owner a new burst, which whoever has many addresses could
// arrange for himself; to refuse new keys lets him shut out everyone else.
// Sharing is never more generous than a bucket of one's own.
type Rate struct {
	every, fill int64                   // nanoseconds; fill is what an empty bucket takes
	key         func(*http.Request) Key // nil: by connection
	start       time.Time
	shards      []shard // none: no limit
	shardBits   int
}

// A Decision is a Rate's answer to one request.
type Decision struct {
	// OK tells that the request is admitted.
	OK bool
	// Remaining is how many more would be admitted at the same instant.
	Remaining int
	// Reset is the time until the bucket is full again.
	Reset time.Duration
	// RetryAfter is the time until the next request is admitted if no other
	// comes; 0 when this one is.
	RetryAfter time.Duration
}

// RateStats are the counts of a Rate since it was made.
type RateStats struct {
	Admitted, Refused uint64
	// Shared is how many of these were decided by a bucket that new keys share.
	Shared uint64
	// Keys is how many keys' buckets were not full when their part of the keys
	// was last asked.
	Keys int
}

// NewRate returns a Rate in which all buckets are full.
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
		share += share / 8 // keys do not spread quite evenly
	}
	for i := range r.shards {
		r.shards[i].init(share, r.shardBits)
	}
	return r
}

// Allow takes a token of key's bucket if it has one. now should carry a
// monotonic reading, as time.Now does; then clocks that are set change nothing.
// Without one, an hour forward fills the buckets and an hour back is as if no
// time had passed.
func (r *Rate) Allow(now time.Time, key Key) Decision {
	if len(r.shards) == 0 {
		return Decision{OK: true, Remaining: math.MaxInt}
	}
	hash := max(key.hash, 1)
	s := &r.shards[hash>>(64-r.shardBits)]
	s.mu.Lock()
	t := s.advance(int64(now.Sub(r.start)), r.fill)
	tat := s.bucket(hash, t)
	full := max(*tat, t) + r.every
	ok := full-t <= r.fill
	if ok {
		*tat = full
		s.admitted++
	} else {
		full = *tat
		s.refused++
	}
	s.mu.Unlock()
	return r.decision(ok, full-t)
}

// decision describes a bucket that is full again after reset.
func (r *Rate) decision(ok bool, reset int64) Decision {
	d := Decision{OK: ok, Remaining: int((r.fill - reset) / r.every), Reset: time.Duration(reset)}
	if !ok {
		d.RetryAfter = time.Duration(reset + r.every - r.fill)
	}
	return d
}

// Policy returns a policy that rejects requests with 429. All responses get the
// fields RateLimit-Policy and RateLimit, unless the Rate has no limit.
func (r *Rate) Policy(name string) Policy {
	policy := string(r.AppendPolicy(nil, name))
	return func(w http.ResponseWriter, req *http.Request) (func(), *Refusal) {
		if len(r.shards) == 0 {
			return nil, nil
		}
		d := r.Allow(time.Now(), r.keyOf(req))
		w.Header().Add(headerPolicy, policy)
		w.Header().Add(headerState, string(r.AppendState(nil, name, d)))
		if d.OK {
			return nil, nil
		}
		return nil, &Refusal{Limit: name, Status: http.StatusTooManyRequests, RetryAfter: d.RetryAfter, Err: ErrRate}
	}
}

func (r *Rate) keyOf(req *http.Request) Key {
	if r.key != nil {
		return r.key(req)
	}
	peer, _ := netip.ParseAddrPort(req.RemoteAddr) // without an address, all requests have one key
	return KeyOf(peer.Addr())
}

// Stats returns the counts. It looks at all buckets, in parts: it takes about a
// millisecond for each 100,000 keys, and holds up others for a fraction of that.
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

// A Key names whoever a rate is kept for. It is a hash of 64 bits with a seed
// of this process: nobody outside can choose two names with the same key, and
// among a million names two share one with a probability of 3 in 100 million.
// Keys mean nothing to another process.
type Key struct{ hash uint64 }

var addressSeed, stringSeed = maphash.MakeSeed(), maphash.MakeSeed()

// KeyOf returns the key of a client's address. An IPv6 address counts with its
// whole /64, which is what one customer gets and may change within at will; an
// IPv4 address counts alone, be it written as IPv6 (::ffff:192.0.2.1) or not.
// An invalid address has the key of the unspecified one.
func KeyOf(a netip.Addr) Key {
	b := a.As16()
	if a.Is4() || a.Is4In6() {
		return keyOf(maphash.Bytes(addressSeed, b[:]))
	}
	return keyOf(maphash.Bytes(addressSeed, b[:8]))
}

// KeyOfString returns the key of any other name: a route, the value of a header.
func KeyOfString(s string) Key { return keyOf(maphash.String(stringSeed, s)) }

// keyOf keeps the hash 0 free, which marks an empty slot.
func keyOf(hash uint64) Key { return Key{max(hash, 1)} }
