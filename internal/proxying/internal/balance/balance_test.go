package balance

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An upstream is servers called a, b and so on, with their settings.
type upstream struct {
	*Set
	Settings
	servers []*Server // in the order of their names
}

// balanced returns an upstream of servers with the given weights. A negative one is that of a
// backup.
func balanced(weights ...int) *upstream {
	u := new(upstream)
	var members []Member
	for i, w := range weights {
		s := new(Server)
		u.servers = append(u.servers, s)
		members = append(members, Member{Server: s, ID: hashOf(name(i)), Weight: int64(max(w, -w)), Backup: w < 0})
	}
	u.Set = NewSet(members, new(atomic.Uint64))
	return u
}

func name(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i/26) }

// hashOf returns a hash of a text whose bits all depend on each byte.
func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	n := h.Sum64()
	return (n ^ n>>33) * 0xff51afd7ed558ccd
}

// begin begins an order.
func (u *upstream) begin(o *Order, now time.Time) { o.Begin(u.Set, u.Settings, now, false, nil) }

// choices returns the names of the servers that n exchanges choose.
func choices(u *upstream, now time.Time, n int) string {
	var b strings.Builder
	for range n {
		var o Order
		u.begin(&o, now)
		if m := o.next(); m == nil {
			b.WriteByte('-')
		} else {
			b.WriteString(name(m.Index))
		}
	}
	return b.String()
}

func TestRoundRobinFollowsTheWeights(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		name    string
		weights []int
		down    string
		want    string
	}{
		{"one", []int{1}, "", "aaaa"},
		{"equal", []int{2, 2, 2}, "", "abcabcabc"},
		{"weighted, as nginx orders them", []int{5, 1, 1}, "", "aabacaaaabacaa"},
		{"weighted 3:2", []int{3, 2}, "", "ababaababa"},
		{"a server is down: its share is divided", []int{1, 1, 1}, "b", "aacacc"},
		{"a backup", []int{1, -1, 1}, "", "acacac"},
		{"backups while all others are down", []int{1, -2, -1}, "a", "bcbbcb"},
		{"all down: in turn", []int{1, 1}, "ab", "abab"},
		{"all down, with a backup: in turn", []int{1, -1}, "ab", "abab"},
		{"only a backup", []int{-1}, "", "aa"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := balanced(c.weights...)
			for i, s := range u.servers {
				if strings.Contains(c.down, name(i)) {
					s.NoteNotConnected(now, now)
				}
			}
			if got := choices(u, now, len(c.want)); got != c.want {
				t.Errorf("the choices are %s, want %s", got, c.want)
			}
		})
	}
}

// TestOrderHasNoServerTwice lets all connections fail. Each exchange tries each server that can
// be used once, then the backups.
func TestOrderHasNoServerTwice(t *testing.T) {
	t.Parallel()
	for _, weights := range [][]int{{1}, {1, 1, 1}, {3, 1, -2}, {1, 2, 3, -1, -1}} {
		u := balanced(weights...)
		for range 50 {
			var o Order
			u.begin(&o, time.Now())
			tried, backups := map[int]bool{}, false
			for m := o.next(); m != nil; m = o.next() {
				if tried[m.Index] || backups && !m.Backup {
					t.Fatalf("%v: %s after %v", weights, name(m.Index), tried)
				}
				tried[m.Index], backups = true, m.Backup
				o.Failed(m.Server)
			}
			if len(tried) != len(weights) {
				t.Fatalf("%v: tried %v", weights, tried)
			}
		}
	}
}

// policies are all policies, by their names in a configuration.
var policies = map[string]Policy{
	"round_robin": RoundRobin, "least_connections": LeastConnections, "two_choices": TwoChoices, "hash": Hash,
}

// shares counts the choices of n exchanges that end immediately, by the index of the server. Their
// keys differ.
func shares(u *upstream, now time.Time, n int) map[int]int {
	got := map[int]int{}
	for i := range n {
		var o Order
		u.begin(&o, now)
		o.SetKey(hashOf(fmt.Sprint("key ", i)))
		got[o.next().Index]++
	}
	return got
}

// checkShares checks that each server has its share of n random choices, to six standard
// deviations.
func checkShares(t *testing.T, u *upstream, got map[int]int, n int) {
	t.Helper()
	total := int64(0)
	for _, m := range u.members {
		total += m.Weight
	}
	for _, m := range u.members {
		p := float64(m.Weight) / float64(total)
		want, most := float64(n)*p, 6*math.Sqrt(float64(n)*p*(1-p))
		if off := math.Abs(float64(got[m.Index]) - want); off > most {
			t.Errorf("%s with the weight %d has %d of %d choices, want %.0f +- %.0f", name(m.Index), m.Weight,
				got[m.Index], n, want, most)
		}
	}
}

// TestSharesFollowTheWeights checks the distribution of all policies over servers without exchanges in flight.
func TestSharesFollowTheWeights(t *testing.T) {
	t.Parallel()
	const n = 10_000
	for name, policy := range policies {
		for _, weights := range [][]int{{1, 1, 1}, {5, 3, 2}, {1, 100}, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7}} {
			t.Run(fmt.Sprint(name, weights), func(t *testing.T) {
				u := balanced(weights...)
				u.Policy = policy
				checkShares(t, u, shares(u, time.Now(), n), n)
			})
		}
	}
}

// TestLeastConnectionsFollowsTheWeights begins exchanges that do not end. Each server gets as many as its weight
// demands, but for one.
func TestLeastConnectionsFollowsTheWeights(t *testing.T) {
	t.Parallel()
	weights := []int{5, 3, 2}
	u := balanced(weights...)
	u.Policy = LeastConnections
	const n = 1000
	for range n {
		var o Order
		u.begin(&o, time.Now())
		o.Place()
	}
	for i, s := range u.servers {
		if got, want := s.InFlight(), int64(n*weights[i]/10); got < want-1 || got > want+1 {
			t.Errorf("%s has %d exchanges in flight, want %d", name(i), got, want)
		}
	}
}

// TestTwoChoicesAvoidTheBusy checks that the busiest server gets only the exchanges that draw
// no other one: none.
func TestTwoChoicesAvoidTheBusy(t *testing.T) {
	t.Parallel()
	u := balanced(1, 1, 1)
	u.Policy = TwoChoices
	u.servers[1].inFlight.Store(10)
	if got := shares(u, time.Now(), 1000); got[1] != 0 || got[0] < 300 || got[2] < 300 {
		t.Errorf("the choices are %v", got)
	}
}

// TestHashMovesOnlyKeysOfRemovedServer removes each server in turn. Only its keys move, and to all others.
func TestHashMovesOnlyKeysOfRemovedServer(t *testing.T) {
	t.Parallel()
	const n = 4_000
	for _, weights := range [][]int{{1, 1, 1}, {1, 2, 3, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}} {
		u := balanced(weights...)
		u.Policy = Hash
		assign := func(down *Server) (servers [n]*Server) {
			now := time.Now()
			if down != nil {
				down.NoteNotConnected(now, now)
				defer down.NoteConnected()
			}
			for i := range servers {
				var o Order
				u.begin(&o, now)
				o.SetKey(hashOf(fmt.Sprint("key ", i)))
				servers[i] = o.next().Server
			}
			return servers
		}
		before := assign(nil)
		for i, gone := range u.servers {
			moved := map[*Server]int{}
			for i, s := range assign(gone) {
				switch {
				case s == gone:
					t.Fatalf("%v: a key is assigned to the server that is gone", weights)
				case s != before[i] && before[i] != gone:
					t.Fatalf("%v: a key of another server has moved", weights)
				case s != before[i]:
					moved[s]++
				}
			}
			if len(moved) != len(weights)-1 {
				t.Errorf("%v: the keys of %s have moved to %d servers only", weights, name(i), len(moved))
			}
		}
		if assign(nil) != before {
			t.Errorf("%v: the assignment depends on more than the key", weights)
		}
	}
}

// TestScrambleIsStable checks that the choices by a hash are the same in all versions and processes.
func TestScrambleIsStable(t *testing.T) {
	if got, want := scramble(1), 0.33817; math.Abs(got-want) > 1e-4 {
		t.Errorf("scramble(1) = %v, want %v", got, want)
	}
}

// BenchmarkChoice measures the choice of a server.
func BenchmarkChoice(b *testing.B) {
	for name, policy := range map[string]Policy{
		"round_robin": RoundRobin, "weighted": RoundRobin, "least_connections": LeastConnections,
		"two_choices": TwoChoices,
		"hash":        Hash,
	} {
		for _, n := range []int{1, 3, 100} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				u := balanced(benchmarkWeights(name, n)...)
				u.Policy = policy
				var o Order
				now, key := time.Now(), uint64(0)
				b.ReportAllocs()
				for b.Loop() {
					u.begin(&o, now)
					key += 0x9e3779b97f4a7c15
					o.SetKey(key)
					o.next()
				}
			})
		}
	}
}

func benchmarkWeights(name string, n int) []int {
	weights := make([]int, n)
	for i := range weights {
		weights[i] = 1
	}
	if name == "weighted" {
		weights[0] = 3
	}
	return weights
}

// TestChoiceAllocatesNothing checks that no policy allocates.
func TestChoiceAllocatesNothing(t *testing.T) {
	for name, policy := range policies {
		u := balanced(3, 1, 1, -1)
		u.Policy = policy
		var o Order
		if n := testing.AllocsPerRun(100, func() {
			u.begin(&o, time.Time{})
			o.SetKey(7)
			o.next()
		}); n != 0 {
			t.Errorf("%s: %v allocations for a choice", name, n)
		}
	}
}

// TestSlowStartGrowsEvenly lets a server return after a failure. Its share grows with each policy, evenly
// until it has its weight.
func TestSlowStartGrowsEvenly(t *testing.T) {
	t.Parallel()
	const over, n = 10 * time.Second, 8_000
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			u := balanced(1, 1, 1)
			u.Policy, u.SlowStart = policy, over
			b := u.servers[1]
			share := func(now time.Time) float64 { return float64(shares(u, now, n)[1]) / n }
			now := time.Now()
			if got := share(now); got < 0.31 || got > 0.36 {
				t.Errorf("at the start of the process, the share is %.3f", got)
			}
			b.NoteNotConnected(now, now)
			if got := share(now); got != 0 {
				t.Errorf("while the server is down, its share is %.3f", got)
			}
			back := now.Add(downFor)
			if got := share(back); got != 0 {
				t.Errorf("when the server returns, its share is %.3f", got)
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
			if got := share(back.Add(over)); got < 0.31 || got > 0.36 {
				t.Errorf("after the slow start, the share is %.3f", got)
			}
			for after, want := range map[time.Duration]float64{0: 0, over / 2: 0.5, over: 1, 2 * over: 1} {
				if got := b.Grown(back.Add(after), over); got != want {
					t.Errorf("after %v, the server has grown to %v, want %v", after, got, want)
				}
			}
		})
	}
}

// TestSlowAttemptsKeepAServerDown fails attempts to connect to a server that does not respond, which take five seconds.
func TestSlowAttemptsKeepAServerDown(t *testing.T) {
	began := time.Now()
	for _, c := range []struct{ took, down time.Duration }{{0, time.Second}, {5 * time.Second, 5 * time.Second}} {
		var s Server
		ended := began.Add(c.took)
		s.NoteNotConnected(began, ended)
		if !s.Down(ended.Add(c.down-1)) || s.Down(ended.Add(c.down)) {
			t.Errorf("after an attempt of %v the server is not down for %v", c.took, c.down)
		}
		if !s.failedAfter(began.Add(-1)) || s.failedAfter(began) {
			t.Errorf("the attempt of %v did not begin when it began", c.took)
		}
	}
}
