package watch

import "github.com/weirhq/weir/lab/results"

import "time"

// pausesTold is the number of garbage collection pauses that a Go runtime
// remembers.
const pausesTold = 256

// A goState is the state of a Go runtime at a moment.
type goState struct {
	heap                   int64 // in use
	allocated, allocations int64 // since the service began
	goroutines             int   // 0 if it is not known
	gcs                    int64
	pause                  time.Duration // of all collections

	// ring has the pause of collection n, from 0, at n%pausesTold, in
	// nanoseconds. It is nil if single pauses are not known. If no total is
	// known, follow computes pause.
	ring    *[pausesTold]uint64
	noTotal bool

	// longest is the longest pause since the state before if there is a
	// ring, and otherwise that of the last 256 or so. missed is true if
	// some pauses since the state before are in neither.
	longest time.Duration
	missed  bool
}

// follow completes a state with the one before, which may be nil.
func (s *goState) follow(before *goState) {
	if s.ring == nil {
		return
	}
	fresh := s.gcs
	if before != nil {
		fresh = max(0, s.gcs-before.gcs)
		s.missed = fresh > pausesTold
	}
	var sum time.Duration
	for i := range min(fresh, pausesTold) {
		pause := time.Duration(s.ring[(s.gcs-1-i)%pausesTold])
		sum += pause
		s.longest = max(s.longest, pause)
	}
	if s.noTotal {
		s.pause = sum
		if before != nil {
			s.pause += before.pause
		}
	}
}

// A goLoad sums up the work of a runtime between the beginning and the end of
// the load.
type goLoad struct {
	ended         bool
	before, after *goState
	peakHeap      int64
	peakRoutines  int
	longest       time.Duration
	missed        bool
}

func (l *goLoad) loading() bool { return l.before != nil && l.after == nil }

// mark begins or ends the load with the state of that moment, or nil if it is
// not known. An older state would falsify the sums.
func (l *goLoad) mark(begins bool, s *goState) {
	l.ended = !begins
	switch {
	case s == nil:
	case begins:
		l.before = s
		l.peakHeap, l.peakRoutines = s.heap, s.goroutines
	case l.loading():
		l.after = s
	}
}

// unanswered returns the end of the load at which no state was known: "began",
// "ended", or "" for neither.
func (l *goLoad) unanswered() string {
	switch {
	case !l.ended:
		return "" // there was no load
	case l.before == nil:
		return "began"
	case l.after == nil:
		return "ended"
	}
	return ""
}

// add counts a state while the load runs.
func (l *goLoad) add(s *goState) {
	if !l.loading() {
		return
	}
	l.peakHeap = max(l.peakHeap, s.heap)
	l.peakRoutines = max(l.peakRoutines, s.goroutines)
	if s.ring != nil {
		l.longest, l.missed = max(l.longest, s.longest), l.missed || s.missed
		return
	}
	since := s.gcs - l.before.gcs
	// The longest of the last 256 pauses was during the load if they all
	// were, or if the state before the load had a shorter one.
	if since >= pausesTold || since > 0 && s.longest > l.before.longest {
		l.longest = max(l.longest, s.longest)
	}
}

func (l *goLoad) usage() *results.GoUsage {
	if l.before == nil || l.after == nil {
		return nil
	}
	b, a := l.before, l.after
	return &results.GoUsage{
		GCs:            max(0, a.gcs-b.gcs),
		PauseSeconds:   max(0, a.pause-b.pause).Seconds(),
		PauseMax:       l.longest.Seconds(),
		PeakHeap:       l.peakHeap,
		Allocated:      max(0, a.allocated-b.allocated),
		Allocations:    max(0, a.allocations-b.allocations),
		PeakGoroutines: l.peakRoutines,
	}
}
