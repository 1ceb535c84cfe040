package lazydeadline_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/lazydeadline"
)

func TestNextMovesDeadlineOnlyIfNecessary(t *testing.T) {
	const never = -1
	start := time.Unix(1e9, 0)
	at := func(s time.Duration) time.Time {
		if s == never {
			return time.Time{}
		}
		return start.Add(s * time.Second)
	}
	for _, c := range []struct {
		name                            string
		set, want, timeout, spare, next time.Duration // in seconds
		change                          bool
	}{
		{"none, none wanted", never, never, 8, 0, never, false},
		{"none wanted", 5, never, 8, 0, never, true},
		{"the first", never, 8, 8, 0, 9, true},
		{"exact", 8, 8, 8, 0, 8, false},
		{"late by an eighth", 9, 8, 8, 0, 9, false},
		{"early", 7, 8, 8, 0, 9, true},
		{"late by more", 10, 8, 8, 0, 9, true},
		{"late by more than a second", 102, 100, 80, 0, 101, true},
		{"late by an eighth and the spare time", 29, 8, 8, 20, 29, false},
		{"late by more than both", 30, 8, 8, 20, 9, true},
		{"short timeout", 1, 0, 0, 0, 0, true},
	} {
		next, change := lazydeadline.Next(at(c.set), at(c.want), c.timeout*time.Second,
			c.spare*time.Second)
		if !next.Equal(at(c.next)) || change != c.change {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, next, change, at(c.next), c.change)
		}
	}
}
