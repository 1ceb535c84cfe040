package machine

import (
	"testing"
	"time"
)

func TestBusyTimeIsWithoutIdleTimes(t *testing.T) {
	for _, c := range []struct {
		stat string
		want time.Duration
		ok   bool
	}{
		{"cpu  100 20 3 4000 500 6 7 8 90 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n", 144 * tick, true},
		{"cpu  100 20 3 4000 500 6 7\n", 0, false},
		{"cpu  1 2 x 4 5 6 7 8\n", 0, false},
		{"", 0, false},
	} {
		if busy, ok := busyTime([]byte(c.stat)); busy != c.want || ok != c.ok {
			t.Errorf("%q: %v, %v; want %v, %v", c.stat, busy, ok, c.want, c.ok)
		}
	}
}
