package sink

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirhq/weir/log"
)

// A Reason says why an event was dropped.
type Reason string

// The reasons.
const (
	WriteError Reason = "write_error" // the writer failed
	Closed     Reason = "closed"      // the sink was closed before the event was written
	Full       Reason = "full"        // the queue had no room, or none for events of that level
)

// Stats are the counts of a sink, all of the same instant. At any of them
//
//	Emitted == Written + Lost() + Waiting
type Stats struct {
	Emitted      uint64 // events handed to the sink, and the queue's own
	Written      uint64 // events that the writer has, to the last byte before the newline
	Waiting      uint64 // events that are being written or wait for it
	WaitingBytes uint64 // how long those are together
	Bytes        uint64 // bytes of events that the writer took, torn ones included
	Dropped      []Loss // by level and reason; only what has happened

	HighWaterBytes uint64        // the most that WaitingBytes ever was
	LongestWrite   time.Duration // what was written together took so long, waits included; the one under way counts
	LastError      error         // the writer's last that dropped an event or, in a Queue, was waited for; nil if none
}

// A Loss counts the events of one level that were lost for one reason.
type Loss struct {
	Level  log.Level
	Reason Reason
	Events uint64
}

// Lost returns how many events were dropped, for whatever reason.
func (s Stats) Lost() uint64 {
	var n uint64
	for _, d := range s.Dropped {
		n += d.Events
	}
	return n
}

// A tally keeps the Stats of a sink that is at work, for one goroutine at a
// time: a sink has a lock for it that is not held during a write, so that a
// sink which stands still can be asked about it.
type tally struct{ stats Stats }

// emit counts an event that arrives.
func (t *tally) emit(bytes int) {
	t.stats.Emitted++
	t.stats.Waiting++
	t.stats.WaitingBytes += uint64(bytes)
	t.stats.HighWaterBytes = max(t.stats.HighWaterBytes, t.stats.WaitingBytes)
}

// refuse counts an event that arrives and is lost at once.
func (t *tally) refuse(level log.Level, reason Reason) {
	t.stats.Emitted++
	t.lose(level, reason)
}

// settle counts what became of an event that waited: written when there is no
// reason for anything else.
func (t *tally) settle(level log.Level, bytes, taken int, reason Reason, err error) {
	t.stats.Waiting--
	t.stats.WaitingBytes -= uint64(bytes)
	t.stats.Bytes += uint64(taken)
	if reason == "" {
		t.stats.Written++
		return
	}
	if reason == WriteError {
		t.stats.LastError = err
	}
	t.lose(level, reason)
}

// wroteMany counts events that waited and were written to the last byte.
func (t *tally) wroteMany(events, bytes int) {
	t.stats.Waiting -= uint64(events)
	t.stats.WaitingBytes -= uint64(bytes)
	t.stats.Bytes += uint64(bytes)
	t.stats.Written += uint64(events)
}

func (t *tally) lose(level log.Level, reason Reason) {
	loss := Loss{Level: level, Reason: reason}
	i, found := slices.BinarySearchFunc(t.stats.Dropped, loss, compareLosses)
	if !found {
		t.stats.Dropped = slices.Insert(t.stats.Dropped, i, loss)
	}
	t.stats.Dropped[i].Events++
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
