// Package budget limits how many requests are sent again.
package budget

import (
	"sync/atomic"
	"time"
)

// The limits are those of Finagle's RetryBudget with half of its share: of the requests of the
// last ten seconds, a tenth may be sent again, and ten per second in addition. The latter is
// for services with few requests.
const (
	seconds   = 10 // length of the window
	slots     = seconds + 1
	share     = 10 // one of so many requests
	perSecond = 10
)

// A Budget limits the requests that are sent again to a share of all requests in a sliding window. The limit holds for
// every interval of ten seconds: counts are by whole seconds, so retries count for 10 to 11 seconds, and requests for 9
// to 10. If all servers of a service fail, retries therefore add a tenth to its load, and do not multiply it. The zero
// value is an unused budget. It is safe for concurrent use, and takes no lock.
type Budget struct {
	requests, retries window
}

// Request counts a request that is sent for the first time.
func (b *Budget) Request(now time.Time) { b.requests.add(now.Unix()) }

// Take reports whether a request may be sent again now, and counts it then.
func (b *Budget) Take(now time.Time) bool {
	second := now.Unix()
	b.retries.add(second)
	if b.retries.sum(second, seconds+1) <= b.requests.sum(second, seconds)/share+seconds*perSecond {
		return true
	}
	b.retries.remove(second)
	return false
}

// A window has the counts of the last seconds. A slot holds a second, modulo 2^32, in its upper
// half, and the count of that second in its lower half. One atomic operation therefore starts
// a slot anew and counts.
type window struct{ slots [slots]atomic.Uint64 }

func (w *window) add(second int64) {
	slot := &w.slots[second%slots]
	for {
		old := slot.Load()
		if old>>32 == uint64(uint32(second)) {
			slot.Add(1)
			return
		}
		if slot.CompareAndSwap(old, uint64(second)<<32|1) {
			return
		}
	}
}

// remove undoes an add of the same second.
func (w *window) remove(second int64) {
	slot := &w.slots[second%slots]
	for {
		old := slot.Load()
		if old>>32 != uint64(uint32(second)) || slot.CompareAndSwap(old, old-1) {
			return
		}
	}
}

// sum returns the count of the last seconds, up to slots, that end with the given one.
func (w *window) sum(second int64, last uint32) (n uint64) {
	for i := range w.slots {
		slot := w.slots[i].Load()
		if age := uint32(second) - uint32(slot>>32); age < last {
			n += uint64(uint32(slot))
		}
	}
	return n
}
