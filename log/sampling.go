package log

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

// Sampling limits events that occur too often. In each second it keeps the
// first First events of a name, and then one of each Every. It drops the others
// without any note in the log; the program can log LeftOut, which counts them.
// A logger and all loggers derived from it by With share the count. Events of
// LevelError and above are always kept, and not counted. There is a fixed
// number of counters, so that an unlimited number of names cannot use unlimited
// memory; now and then, two names share a counter.
//
// The zero value drops all events below LevelError. Loggers may share a
// Sampling and its counts. It is safe for concurrent use. Do not copy it, and
// do not change First and Every after the first use.
type Sampling struct {
	First int // events kept per name and second
	Every int // then one of each Every is kept; 0 keeps none

	// Each counter holds a second since 1970 and the number of events in it.
	// Names with the same hash share a counter.
	counts  [4096]atomic.Uint64
	leftOut atomic.Uint64
}

// LeftOut returns the number of dropped events.
func (s *Sampling) LeftOut() uint64 { return s.leftOut.Load() }

var samplingSeed = maphash.MakeSeed()

// sample counts the event and reports whether it is written.
func (s *Sampling) sample(level Level, event string) bool {
	if level >= LevelError {
		return true
	}
	n := s.count(event, uint32(time.Now().Unix()))
	if n <= s.First || s.Every > 0 && (n-s.First)%s.Every == 0 {
		return true
	}
	s.leftOut.Add(1)
	return false
}

// count adds an event in the given second and returns its number in it,
// beginning with 1.
func (s *Sampling) count(event string, second uint32) int {
	count := &s.counts[maphash.String(samplingSeed, event)%uint64(len(s.counts))]
	for {
		before := count.Load()
		after := before + 1
		if uint32(before>>32) != second {
			after = uint64(second)<<32 | 1
		}
		if count.CompareAndSwap(before, after) {
			return int(uint32(after))
		}
	}
}
