package otlpsink

import (
	"testing"
	"time"
)

// TestConversionAllocatesNothing converts and compresses the events of requests without allocations.
func TestConversionAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, coding := range compressions {
		e, b := encoder{signal: &logs, now: time.Now}, requestBatch()
		c, err := newCompressor(coding)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(20, func() { c.compress(e.request(b)) }); n > 0 {
			t.Errorf("%s: %v allocations for %d events", coding, n, b.Count)
		}
	}
}
