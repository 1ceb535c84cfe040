package proxy

import (
	"strings"
	"testing"
	"time"
)

// TestSlowStart lets a server return after a failure. Its share grows with each policy, evenly
// until it has its weight. Meanwhile its state is Starting.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	const over, n = 10 * time.Second, 8_000
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			up := balanced(t, 1, 1, 1)
			up.Balance, up.SlowStart = policy, over
			b := up.Servers()[1]
			share := func(now time.Time) float64 {
				return float64(sharesAt(up, now, n)[b.url]) / n
			}
			now := time.Now()
			if got := share(now); got < 0.31 || got > 0.36 {
				t.Errorf("at the start of the process, the share is %.3f", got)
			}
			b.downUntil.Store(now.Add(downFor).UnixNano())
			if got := share(now); got != 0 {
				t.Errorf("while the server is down, its share is %.3f", got)
			}
			back := now.Add(downFor)
			if got := share(back); got != 0 {
				t.Errorf("when the server returns, its share is %.3f", got)
			}
			if s := b.state(back.Add(time.Second), over); s != Starting {
				t.Errorf("the state is %s", s)
			}
			last := 0.0
			for _, part := range []float64{0.1, 0.5, 0.9} {
				got := share(back.Add(time.Duration(part * float64(over))))
				// The server gets its part of a third, and at most as much as if the others had one more.
				if got < last || got < part/3-0.03 || got > part/(2+part)+0.03 {
					t.Errorf("after %v of the slow start, the share is %.3f", part, got)
				}
				last = got
			}
			if got := share(back.Add(over)); got < 0.31 || got > 0.36 || b.state(back.Add(over), over) != Usable {
				t.Errorf("after the slow start, the share is %.3f, the state is %s", got, b.state(back.Add(over), over))
			}
		})
	}
}

// TestSlowStartOfAdded checks that a server that is added has a slow start, unless it is one of
// the first, and that servers without others get all exchanges.
func TestSlowStartOfAdded(t *testing.T) {
	t.Parallel()
	up := balanced(t, 1, 1)
	up.SlowStart = time.Hour
	if got := choices(up, time.Now(), 4); got != "abab" {
		t.Errorf("the first servers get %s", got)
	}
	up.since = up.since.Add(-time.Minute)
	if err := up.SetServers(endpoints(1, 1, 1)); err != nil {
		t.Fatal(err)
	}
	if got := choices(up, time.Now(), 100); strings.Contains(got, "c") {
		t.Errorf("with an added server, the choices are %s", got)
	}
	now := balanced(t, 1, 1, 1, 1)
	now.SlowStart = time.Hour
	now.Adopt(up)
	if got := choices(now, time.Now(), 100); strings.ContainsAny(got, "cd") || now.Servers()[3].state(time.Now(), time.Hour) != Starting {
		t.Errorf("after a reload, the choices are %s", got)
	}
	for _, s := range now.Servers()[:2] {
		s.SetDraining(true)
	}
	if got := choices(now, time.Now(), 100); strings.ContainsAny(got, "ab-") || strings.Count(got, "c") != 50 {
		t.Errorf("if all servers are in their slow start, the choices are %s", got)
	}
}
