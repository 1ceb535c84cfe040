package sink

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir/log"
)

// A Reason says why an event was dropped.
type Reason string

// The reasons.
const (
	WriteError Reason = "write_error" // the writer failed
	Closed     Reason = "closed"      // the sink was closed before the event was written
	Full       Reason = "full"        // the queue had no room, or none for its level
)

// Stats are the counts of a sink, all of the same instant. At any of them
//
//	Emitted == Written + Lost() + Waiting
type Stats struct {
	Emitted      uint64 // events handed to the sink
	Written      uint64 // events that the writer has, to the last byte before the newline
	Waiting      uint64 // events that are being written or wait for it
	WaitingBytes uint64 // how long those are together
	Bytes        uint64 // bytes of events that the writer took, torn ones included
	Dropped      []Loss // by level and reason; only what has happened
	LastError    error  // the last that dropped an event as WriteError, or nil

	HighWaterBytes uint64        // the most that WaitingBytes ever was
	LongestWrite   time.Duration // that any batch took, the one under way included
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

// counts are the Stats of a sink that is at work. Their lock is never held
// during a write, so that a sink which stands still can be asked about it.
type counts struct {
	mu    sync.Mutex
	stats Stats // guarded by mu
}

// emit counts an event that arrives.
func (c *counts) emit(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Emitted++
	c.stats.Waiting++
	c.stats.WaitingBytes += uint64(bytes)
}

// settle counts what became of an event that waited: written when there is no
// reason for anything else.
func (c *counts) settle(level log.Level, bytes, taken int, reason Reason, err error) {
	if reason != "" {
		c.drop(bytes, taken, reason, level, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(bytes, taken)
	c.stats.Written++
}

// wroteMany counts events that waited and were written to the last byte.
func (c *counts) wroteMany(events, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Waiting -= uint64(events)
	c.stats.WaitingBytes -= uint64(bytes)
	c.stats.Bytes += uint64(bytes)
	c.stats.Written += uint64(events)
}

// drop counts an event that waited and was lost.
func (c *counts) drop(bytes, taken int, reason Reason, level log.Level, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(bytes, taken)
	if reason == WriteError {
		c.stats.LastError = err
	}
	i, found := slices.BinarySearchFunc(c.stats.Dropped, Loss{Level: level, Reason: reason}, compareDrops)
	if !found {
		c.stats.Dropped = slices.Insert(c.stats.Dropped, i, Loss{Level: level, Reason: reason})
	}
	c.stats.Dropped[i].Events++
}

// leave counts an event that waits no longer. c.mu is held.
func (c *counts) leave(bytes, taken int) {
	c.stats.Waiting--
	c.stats.WaitingBytes -= uint64(bytes)
	c.stats.Bytes += uint64(taken)
}

func (c *counts) snapshot() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Dropped = slices.Clone(s.Dropped)
	return s
}

func compareDrops(a, b Loss) int {
	return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Reason, b.Reason))
}
