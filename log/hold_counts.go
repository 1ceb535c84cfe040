package log

import "sync/atomic"

// HoldCounts count the events of all Holds that share them. The events that a program has logged are those that its sink
// counts as emitted, those that are held, and those that were discarded. The zero value is ready for use.
type HoldCounts struct{ held, discarded atomic.Int64 }

// Held returns the number of events that are held at the moment.
func (c *HoldCounts) Held() int64 { return c.held.Load() }

// Discarded returns the number of held events that were not written.
func (c *HoldCounts) Discarded() int64 { return c.discarded.Load() }

// add adds to both numbers, unless c is nil.
func (c *HoldCounts) add(held, discarded int) {
	if c == nil {
		return
	}
	if held != 0 {
		c.held.Add(int64(held))
	}
	if discarded != 0 {
		c.discarded.Add(int64(discarded))
	}
}
