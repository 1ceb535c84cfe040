package front

import (
	"testing"
	"time"
)

// TestServerLinger checks that events for servers wait longer than those for files, at most for a
// second unless they do so for files, and not at all with linger: 0s.
func TestServerLinger(t *testing.T) {
	for own, want := range map[time.Duration]time.Duration{
		0:                      0,
		5 * time.Millisecond:   100 * time.Millisecond,
		200 * time.Millisecond: time.Second,
		time.Minute:            time.Minute,
	} {
		if got := serverLinger(own); got != want {
			t.Errorf("serverLinger(%s) = %s, want %s", own, got, want)
		}
	}
}
