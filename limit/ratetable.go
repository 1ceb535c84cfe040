package limit

import (
	"math/bits"
	"sync"
	"time"
)

// A shard is a part of a Rate's keys: a hash table with linear probing.
//
//	slots   [ A 7s | B 2s |      | C 9s |      | D 1s |      |      ]   at 3 s
//	          live   full   empty  live         full
//
// A slot is live while its bucket fills. Nothing is ever deleted: a slot whose
// bucket is full again ends no probe, and the next new key that comes by takes
// it. When three quarters of the slots are taken, the live ones move to a new
// table, which is larger until the shard has its share of the keys.
type shard struct {
	mu    sync.Mutex // for all below
	slots []slot
	used  int // slots that are not empty
	most  int // len(slots) at most
	bits  int // of a hash, the first, that chose the shard
	news  int // new keys since the last move that found the table full

	shared []int64 // instants like slot.full, for new keys that find no slot

	last    int64 // the latest time that was told
	elapsed int64 // the sum of the steps forward: the time of the slots

	admitted, refused, sharedDecisions uint64

	_ [64]byte // a cache line between the locks of two shards
}

// A slot is one key's bucket.
type slot struct {
	hash uint64 // 0: empty
	full int64  // when the bucket is full again
}

const (
	firstSlots   = 16
	sharedEach   = 16 // one shared bucket for so many keys
	clockSetBack = int64(time.Second)
)

// init makes room for share keys in the long run, but not yet.
func (s *shard) init(share, bits int) {
	s.bits = bits
	s.most = share + (share+2)/3
	s.slots = make([]slot, min(firstSlots, s.most))
}

// advance tells the time of the slots when the caller's is now. The caller's
// time may go back a little, as goroutines overtake each other on their way to
// the lock; then the slots' time stands still. If it goes back by more, a clock
// was set, and the slots' time goes on from there.
func (s *shard) advance(now, window int64) int64 {
	step := now - s.last
	if step >= 0 {
		s.elapsed += min(step, window) // what is longer fills all buckets just as well
		s.last = now
	} else if step < -clockSetBack {
		s.last = now
	}
	return s.elapsed
}

// bucket returns the instant to read and set for the key hash.
func (s *shard) bucket(hash uint64, now int64) *int64 {
	spread := hash << s.bits // the bits that all keys here share say nothing
	i, known := s.find(hash, spread, now)
	if known {
		return &s.slots[i].full
	}
	if s.slots[i].hash == 0 && s.isFull() {
		s.news++
		if s.mayMove() {
			s.move(now)
			i, _ = s.find(hash, spread, now)
		}
		if s.isFull() {
			s.sharedDecisions++
			return s.sharedBucket(spread)
		}
	}
	return s.take(i, hash, spread)
}

// find returns the slot of the key hash, or else the one it may take: the first
// on its way whose bucket is full again, or the empty one at the end of it.
func (s *shard) find(hash, spread uint64, now int64) (i int, known bool) {
	i = index(spread, len(s.slots))
	free := -1
	for {
		at := &s.slots[i]
		switch {
		case at.hash == hash:
			return i, true
		case at.hash == 0 && free >= 0:
			return free, false
		case at.hash == 0:
			return i, false
		case free < 0 && at.full <= now:
			free = i
		}
		if i++; i == len(s.slots) {
			i = 0
		}
	}
}

// index is where in a table of n slots a key's way begins.
func index(spread uint64, n int) int {
	i, _ := bits.Mul64(spread, uint64(n))
	return int(i)
}

func (s *shard) isFull() bool { return s.used >= len(s.slots)*3/4 }

// mayMove tells whether to look for full buckets all over the table. When it
// cannot grow, that may find next to nothing, so it is done once for each
// quarter of a table's worth of new keys: a few slots for each key on average.
func (s *shard) mayMove() bool { return len(s.slots) < s.most || s.news >= len(s.slots)/4 }

// move moves the live slots to a table in which at most about half are taken,
// if it may be so large.
func (s *shard) move(now int64) {
	live := 0
	for i := range s.slots {
		if s.slots[i].full > now {
			live++
		}
	}
	old, size := s.slots, len(s.slots)
	switch {
	case live > size*3/8:
		size = min(2*size, s.most)
	case live < size/8:
		size = max(size/2, min(firstSlots, s.most))
	}
	s.slots, s.used, s.news = make([]slot, size), live, 0
	for _, from := range old {
		if from.full > now {
			i, _ := s.find(from.hash, from.hash<<s.bits, now)
			s.slots[i] = from
		}
	}
}

// take gives slot i to the key hash. It may have emptied a shared bucket before,
// so it begins with what is in that.
func (s *shard) take(i int, hash, spread uint64) *int64 {
	at := &s.slots[i]
	if at.hash == 0 {
		s.used++
	}
	*at = slot{hash: hash}
	if s.shared != nil {
		at.full = *s.sharedBucket(spread)
	}
	return &at.full
}

// sharedBucket returns the instant for a key without a slot.
func (s *shard) sharedBucket(spread uint64) *int64 {
	if s.shared == nil {
		s.shared = make([]int64, s.most/sharedEach+1)
	}
	return &s.shared[index(spread, len(s.shared))]
}
