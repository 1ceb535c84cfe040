package dashboard

import (
	"testing"
	"time"
)

// TestTimesAreThoseOfTheMetrics has times that are no number of nanoseconds since 1970: after 2262.
func TestTimesAreThoseOfTheMetrics(t *testing.T) {
	for _, want := range []time.Time{
		time.Date(2026, 12, 1, 4, 50, 47, 5e8, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		if got := unix(float64(want.UnixMilli()) / 1e3); !got.Equal(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
