package limit

import (
	"math/bits"
	"sync"
	"time"
)

// A shard is a part of a Rate's keys: a hash table in which a key stands at
// most a window behind its home, the slot that its hash chooses.
//
//	slots   [ A 7s | B 2s |      | C 9s | D 1s | E 8s |      |      ]   at 3 s
//	          live   full   empty  live   full   live
//
// A slot is live while its bucket fills. Nothing is ever deleted: a slot whose
// bucket is full again is as good as none, and the next new key that comes by
// takes it. A slot that was taken is never empty again, so a search ends at an
// empty slot, and in any case at the end of the window. When a new key finds no
// slot that it may take, the table doubles until it has its share.
//
// Plain linear probing was tried. It fills the table better, but when it is full
// the long runs of slots are where new keys find a full bucket to replace, which
// makes them longer yet: a search took 800 ns instead of 80.
type shard struct {
	mu       sync.Mutex // for all below
	slots    []slot     // homes, and a window behind the last
	maxHomes int        // homes at most
	bits     int        // of a hash, the first, that chose the shard

	shared []int64 // instants like slot.full, for new keys that find no slot

	last    int64 // the latest time that was told
	elapsed int64 // the sum of the steps forward: the time of the slots

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
	sharedEach   = 16 // one shared bucket for so many keys
	clockSetBack = int64(time.Second)
)

// init makes room for keys in the long run, but not yet. With two homes for each
// key, next to none finds its window taken: of a million, none did.
func (s *shard) init(keys, bits int) {
	s.bits = bits
	s.maxHomes = 2 * keys
	s.slots = make([]slot, min(firstHomes, s.maxHomes)+window)
}

// advance tells the time of the slots when the caller's is now. The caller's
// time may go back a little, as goroutines overtake each other on their way to
// the lock; then the slots' time stands still. If it goes back by more, a clock
// was set, and the slots' time goes on from there.
func (s *shard) advance(now, fill int64) int64 {
	step := now - s.last
	if step >= 0 {
		s.elapsed += min(step, fill) // what is longer fills all buckets just as well
		s.last = now
	} else if step < -clockSetBack {
		s.last = now
	}
	return s.elapsed
}

// bucket returns the instant to read and set for the key hash.
func (s *shard) bucket(hash uint64, now int64) *int64 {
	for {
		at := s.find(hash, now)
		switch {
		case at != nil && at.hash == hash:
			return &at.fullAt
		case at != nil:
			*at = slot{hash, s.inherited(hash)}
			return &at.fullAt
		case s.homes() == s.maxHomes:
			s.sharedDecisions++
			return s.sharedBucket(hash)
		}
		s.grow(now)
	}
}

// find returns the slot of the key hash or, when it has none, the first that it
// may take; nil when there is none of these either.
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

// index spreads keys over n places by the bits of their hashes that did not
// choose the shard.
func (s *shard) index(hash uint64, n int) int {
	i, _ := bits.Mul64(hash<<s.bits, uint64(n))
	return int(i)
}

// grow moves the live slots to a table of twice the size. What finds no place
// there, which is rare, is not forgotten but goes to the shared buckets.
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

// sharedBucket returns the instant for a key without a slot.
func (s *shard) sharedBucket(hash uint64) *int64 {
	if s.shared == nil {
		s.shared = make([]int64, s.maxHomes/2/sharedEach+1)
	}
	return &s.shared[s.index(hash, len(s.shared))]
}

// inherited returns with what a new key's bucket begins. Its owner may have
// emptied a shared one before, and gets no second burst.
func (s *shard) inherited(hash uint64) int64 {
	if s.shared == nil {
		return 0
	}
	return *s.sharedBucket(hash)
}

// live counts the keys whose buckets are not full.
func (s *shard) live() int {
	n := 0
	for i := range s.slots {
		if s.slots[i].fullAt > s.elapsed {
			n++
		}
	}
	return n
}
