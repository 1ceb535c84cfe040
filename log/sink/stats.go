package sink

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirhq/weir/log"
)

// A Reason is the reason why an event was dropped.
type Reason string

// The reasons.
const (
	WriteError Reason = "write_error" // the writer failed
	Closed     Reason = "closed"      // the sink was closed before the event was written
	Full       Reason = "full"        // the queue had no space for events of that level
	Rejected   Reason = "rejected"    // a server rejected the event
	Expired    Reason = "expired"     // the event was kept on a disk for too long
	Damaged    Reason = "damaged"     // the event was kept on a disk, and its data was damaged or removed
)

// Stats are the counts of a sink at one instant. Always
//
//	Emitted == Written + Lost() + Waiting
type Stats struct {
	Emitted      uint64 // events handed to the sink, and events of the queue itself
	Written      uint64 // events that the writer took, at least up to the byte before the newline
	Waiting      uint64 // events that are being written or wait to be written
	WaitingBytes uint64 // the bytes of these events
	Bytes        uint64 // bytes of events that the writer took, including torn ones
	Dropped      []Loss // by level and reason, without zero counts
	Recovered    uint64 // events that an earlier process had left on a disk; Emitted includes them

	HighWaterBytes uint64        // the maximum of WaitingBytes
	LongestWrite   time.Duration // the longest time for lines written together, with retries, also in progress
	LastError      error         // the last error that dropped an event or made a Queue retry; nil if none
}

// A Loss counts the events of one level that were lost for one reason.
type Loss struct {
	Level  log.Level
	Reason Reason
	Events uint64
}

// Lost returns the number of dropped events, for all reasons.
func (s Stats) Lost() uint64 {
	var n uint64
	for _, d := range s.Dropped {
		n += d.Events
	}
	return n
}

// A tally keeps the Stats of a working sink, for one goroutine at a time. A
// sink guards it by a lock that it does not hold during a write, so that Stats
// works while a write blocks.
type tally struct{ stats Stats }

// emit counts a new event that waits.
func (t *tally) emit(bytes int) {
	t.stats.Emitted++
	t.stats.Waiting++
	t.stats.WaitingBytes += uint64(bytes)
	t.stats.HighWaterBytes = max(t.stats.HighWaterBytes, t.stats.WaitingBytes)
}

// withdraw removes an event that waits. It goes to another sink, which counts it.
func (t *tally) withdraw(bytes int) {
	t.stats.Emitted--
	t.stats.Waiting--
	t.stats.WaitingBytes -= uint64(bytes)
}

// refuse counts a new event that is dropped immediately.
func (t *tally) refuse(level log.Level, reason Reason) {
	t.stats.Emitted++
	t.lose(level, reason, 1)
}

// settle counts the outcome of a waiting event. It was written if reason is "".
func (t *tally) settle(level log.Level, bytes, taken int, reason Reason, err error) {
	t.stats.Waiting--
	t.stats.WaitingBytes -= uint64(bytes)
	t.stats.Bytes += uint64(taken)
	if reason == "" {
		t.stats.Written++
		return
	}
	if reason == WriteError || reason == Rejected {
		t.stats.LastError = err
	}
	t.lose(level, reason, 1)
}

// wroteMany counts waiting events that were written completely.
func (t *tally) wroteMany(events, bytes int) {
	t.stats.Waiting -= uint64(events)
	t.stats.WaitingBytes -= uint64(bytes)
	t.stats.Bytes += uint64(bytes)
	t.stats.Written += uint64(events)
}

func (t *tally) lose(level log.Level, reason Reason, events uint64) {
	loss := Loss{Level: level, Reason: reason}
	i, found := slices.BinarySearchFunc(t.stats.Dropped, loss, compareLosses)
	if !found {
		t.stats.Dropped = slices.Insert(t.stats.Dropped, i, loss)
	}
	t.stats.Dropped[i].Events += events
}

// snapshot returns the counts, with the longest write of the sink's writer.
func (t *tally) snapshot(longestWrite time.Duration) Stats {
	s := t.stats
	s.Dropped = slices.Clone(s.Dropped)
	s.LongestWrite = longestWrite
	return s
}

func compareLosses(a, b Loss) int {
	return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Reason, b.Reason))
}
