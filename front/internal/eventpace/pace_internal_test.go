package eventpace

import (
	"testing"
	"time"
)

// TestEventsBeyondBurstArePaced has more news than may be logged, and then none. It checks that the first five are
// reported, then one for each interval, and that it has the number of those in between.
func TestEventsBeyondBurstArePaced(t *testing.T) {
	var p Pace
	now := time.Now()
	for i := range burst {
		if unlogged, ok := p.Next(now, true); !ok || unlogged != 0 {
			t.Fatalf("event %d: logged is %v with %d unlogged", i, ok, unlogged)
		}
	}
	for range 3 {
		if _, ok := p.Next(now, true); ok {
			t.Fatal("more than the burst is logged")
		}
	}
	if p.Unlogged() != 3 {
		t.Errorf("%d events are unlogged, want 3", p.Unlogged())
	}
	if _, ok := p.Next(now.Add(Interval/2), false); ok {
		t.Error("an event is logged within the interval")
	}
	if unlogged, ok := p.Next(now.Add(2*Interval), false); !ok || unlogged != 3 {
		t.Errorf("after the interval: logged is %v with %d unlogged, want 3", ok, unlogged)
	}
	if _, ok := p.Next(now.Add(4*Interval), false); ok {
		t.Error("an event without news is logged")
	}
}
