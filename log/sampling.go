package log

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

// Sampling thins out events that come too often. In each second the first
// First events of a name are written and of those after them every Every-th;
// the others are left out without a word in the log, and counted: LeftOut is
// for the program to log. A logger and all that With makes of it count
// together. Errors are never left out, nor what is worse, and neither is
// counted. Names share a few thousand counts, so that names without end cannot
// take memory without end: now and then two are counted as one.
//
// The zero value leaves out all that is no error. Loggers may share a Sampling
// and with it the count; many goroutines may use it at once. It must not be
// copied, nor First and Every changed once it is in use.
type Sampling struct {
	First int // of a name in a second
	Every int // of those after First; 0 is none of them

	// The second, since 1970, and the number of events in it: of all names
	// that fall together, so that the memory has a bound.
	counts  [4096]atomic.Uint64
	leftOut atomic.Uint64
}

// LeftOut returns how many events were left out.
func (s *Sampling) LeftOut() uint64 { return s.leftOut.Load() }

var samplingSeed = maphash.MakeSeed()

// keep reports whether the event is to be written.
func (s *Sampling) keep(level Level, event string) bool {
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

// count adds an event of that second and returns which one it is, from 1 on.
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
