package limit

import (
	"math/bits"
	"sync"
	"time"
)

// A shard is a part of a Rate's keys: a hash table in which a key is at most a window
// of slots after its home, the slot that its hash selects.
//
//	slots   [ A 7s | B 2s |      | C 9s | D 1s | E 8s |      |      ]   at 3 s
//	          live   full   empty  live   full   live
//
// A slot is live until its bucket is full. Slots are never deleted: the next new key
// whose window contains a full slot takes it. A used slot never becomes empty, so a
// search ends at an empty slot, or at the end of the window. If a new key finds no slot
// to take, the table doubles, up to the shard's share.
//
// Plain linear probing was tried. It fills the table better. But in a full table new
// keys find the full buckets in the longest runs of slots, which makes these runs
// longer: a search took 800 ns instead of 80.
type shard struct {
	mu       sync.Mutex // guards all fields below
	slots    []slot     // homes, and a window after the last one
	maxHomes int        // the largest number of homes
	bits     int        // number of leading bits of a hash, which select the shard
	fill     int64      // the time in which an empty bucket becomes full

	shared []int64          // like slot.fullAt, for new keys that find no slot
	lines  map[uint64]*line // by hash: buckets for which requests wait, which replace their slots

	last    int64 // the latest time of a request
	elapsed int64 // the sum of the steps forward: the clock of the buckets
	latest  int64 // no bucket of lines becomes full later

	admitted, refused, sharedDecisions uint64

	_ [64]byte // a cache line between the locks of two shards
}

// A slot is one key's bucket.
type slot struct {
	hash   uint64 // 0: empty
	fullAt int64  // when the bucket is full again
}

const (
	window       = 32
	firstHomes   = 32
	sharedEach   = 16 // keys for each shared bucket
	clockSetBack = int64(time.Second)
)

// init prepares the shard for a number of keys, but allocates little of it yet. With
// two homes for each key, nearly no key finds its window full: of a million, none did.
func (s *shard) init(keys, bits int) {
	s.bits = bits
	s.maxHomes = 2 * keys
	s.slots = make([]slot, min(firstHomes, s.maxHomes)+window)
}

// allow takes the tokens that are added in the time cost, at the time now, which is at since the
// start. It returns the results of take.
func (s *shard) allow(hash uint64, now time.Time, at, cost int64) (wait, reset int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait, reset = s.take(hash, s.advance(now, at), cost)
	if wait > 0 {
		s.refused++
	} else {
		s.admitted++
	}
	return wait, reset
}

// take takes the tokens that are added in the time cost from the bucket of a key, if wait is 0.
// Otherwise wait is the time until it has them. reset is the time until the bucket is full again.
// s.mu is held.
func (s *shard) take(hash uint64, now, cost int64) (wait, reset int64) {
	s.settle(hash, now)
	at, shared := s.bucket(hash, now)
	if shared {
		s.sharedDecisions++
	}
	before := max(*at, now)
	if wait = before + cost - now - s.fill; wait > 0 {
		return wait, before - now
	}
	*at = before + cost
	return 0, *at - now
}

// advance returns the buckets' time for the time now, which is at since the start. now may be
// older than before, because goroutines overtake each other on the way to the lock; the
// buckets' time does not go back then. If now has no monotonic reading and is older by more
// than clockSetBack, the clock was set, and the buckets' time continues from there. A time that is
// more than a century away counts as no time passed.
func (s *shard) advance(now time.Time, at int64) int64 {
	step := at - s.last
	if at < -int64(century) || at > int64(century) { // as of the zero Time: step would overflow
		return s.elapsed
	}
	if step >= 0 {
		s.elapsed += min(step, max(s.fill, s.latest-s.elapsed)) // a longer step fills all buckets as well
		s.last = at
	} else if step < -clockSetBack && now == now.Round(0) {
		s.last = at
	}
	return s.elapsed
}

// bucket returns the fullAt of a key, to be read and set, and whether other keys share it.
func (s *shard) bucket(hash uint64, now int64) (fullAt *int64, shared bool) {
	if l := s.lines[hash]; l != nil {
		return &l.fullAt, false
	}
	for {
		at := s.find(hash, now)
		switch {
		case at != nil && at.hash == hash:
			return &at.fullAt, false
		case at != nil:
			*at = slot{hash, s.inherited(hash)}
			return &at.fullAt, false
		case s.homes() == s.maxHomes:
			return s.sharedBucket(hash), true
		}
		s.grow(now)
	}
}

// find returns the slot of a key or, if it has none, the first slot that it may take;
// nil if there is no such slot.
func (s *shard) find(hash uint64, now int64) *slot {
	var free *slot
	home := s.index(hash, s.homes())
	slots := s.slots[home : home+window]
	for i := range slots {
		at := &slots[i]
		if at.hash == hash {
			return at
		}
		if free == nil && at.fullAt <= now {
			free = at
		}
		if at.hash == 0 {
			break
		}
	}
	return free
}

func (s *shard) homes() int { return len(s.slots) - window }

// index maps a hash to one of n slots, by the bits that did not select the shard.
func (s *shard) index(hash uint64, n int) int {
	i, _ := bits.Mul64(hash<<s.bits, uint64(n))
	return int(i)
}

// grow moves the live slots to a table of twice the size. In the rare case that one
// finds no slot there, it moves to the shared buckets.
func (s *shard) grow(now int64) {
	old := s.slots
	s.slots = make([]slot, min(2*s.homes(), s.maxHomes)+window)
	for _, from := range old {
		if from.fullAt <= now {
			continue
		}
		if at := s.find(from.hash, now); at != nil {
			*at = from
		} else {
			at := s.sharedBucket(from.hash)
			*at = max(*at, from.fullAt)
		}
	}
}

// sharedBucket returns the fullAt for a key without a slot.
func (s *shard) sharedBucket(hash uint64) *int64 {
	if s.shared == nil {
		s.shared = make([]int64, s.maxHomes/2/sharedEach+1)
	}
	return &s.shared[s.index(hash, len(s.shared))]
}

// inherited returns the initial fullAt of a new key. The key may have emptied a shared
// bucket before and must not get a second burst.
func (s *shard) inherited(hash uint64) int64 {
	if s.shared == nil {
		return 0
	}
	return *s.sharedBucket(hash)
}

// live returns the number of buckets that are not full.
func (s *shard) live() int {
	n := len(s.lines)
	for i := range s.slots {
		if at := &s.slots[i]; at.fullAt > s.elapsed && s.lines[at.hash] == nil {
			n++
		}
	}
	return n
}
