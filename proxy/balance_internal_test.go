package proxy

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// balanced returns an upstream of servers with the given weights. A negative one is that of a
// backup. The servers are not connected to.
func balanced(t testing.TB, weights ...int) *Upstream {
	t.Helper()
	up, err := NewUpstream("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := up.SetServers(endpoints(weights...)); err != nil {
		t.Fatal(err)
	}
	return up
}

// endpoints returns those of balanced: http://a:1, http://b:1 and so on.
func endpoints(weights ...int) []Endpoint {
	all := make([]Endpoint, len(weights))
	for i, w := range weights {
		all[i] = Endpoint{URL: fmt.Sprintf("http://%s:1", name(i)), Weight: max(w, -w), Backup: w < 0}
	}
	return all
}

func name(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i/26) }

// choices returns the names of the servers that n exchanges choose.
func choices(up *Upstream, now time.Time, n int) string {
	var b strings.Builder
	for range n {
		var o order
		o.begin(up, now, false, nil)
		if m := o.next(); m == nil {
			b.WriteByte('-')
		} else {
			b.WriteByte(m.url[len("http://")])
		}
	}
	return b.String()
}

func TestRoundRobin(t *testing.T) {
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
			up := balanced(t, c.weights...)
			for _, s := range up.Servers() {
				if strings.Contains(c.down, s.url[len("http://"):][:1]) {
					s.downUntil.Store(now.Add(downFor).UnixNano())
				}
			}
			if got := choices(up, now, len(c.want)); got != c.want {
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
		up := balanced(t, weights...)
		for range 50 {
			var o order
			o.begin(up, time.Now(), false, nil)
			tried, backups := map[string]bool{}, false
			for m := o.next(); m != nil; m = o.next() {
				if tried[m.url] || backups && !m.backup {
					t.Fatalf("%v: %s after %v", weights, m.url, tried)
				}
				tried[m.url], backups = true, m.backup
				o.failed(m.Server)
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

// shares counts the choices of n exchanges that end immediately, with keys 0 to n-1.
func shares(up *Upstream, n int) map[string]int { return sharesAt(up, time.Now(), n) }

func sharesAt(up *Upstream, now time.Time, n int) map[string]int {
	got := map[string]int{}
	for i := range n {
		var o order
		o.begin(up, now, false, nil)
		o.setKey(xxhash.Sum64String(fmt.Sprint("key ", i)))
		got[o.next().url]++
	}
	return got
}

// checkShares checks that each server has its share of n random choices, to six standard
// deviations.
func checkShares(t *testing.T, up *Upstream, got map[string]int, n int) {
	t.Helper()
	total := int64(0)
	for _, m := range up.now().members {
		total += m.weight
	}
	for _, m := range up.now().members {
		p := float64(m.weight) / float64(total)
		want, most := float64(n)*p, 6*math.Sqrt(float64(n)*p*(1-p))
		if off := math.Abs(float64(got[m.url]) - want); off > most {
			t.Errorf("%s with the weight %d has %d of %d choices, want %.0f +- %.0f", m.url, m.weight,
				got[m.url], n, want, most)
		}
	}
}

// TestShares checks the distribution of all policies over servers without exchanges in flight.
func TestShares(t *testing.T) {
	t.Parallel()
	const n = 10_000
	for name, policy := range policies {
		for _, weights := range [][]int{{1, 1, 1}, {5, 3, 2}, {1, 100}, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7}} {
			t.Run(fmt.Sprint(name, weights), func(t *testing.T) {
				up := balanced(t, weights...)
				up.Balance = policy
				checkShares(t, up, shares(up, n), n)
			})
		}
	}
}

// TestFewestInFlight begins exchanges that do not end. Each server gets as many as its weight
// demands, but for one.
func TestFewestInFlight(t *testing.T) {
	t.Parallel()
	weights := []int{5, 3, 2}
	up := balanced(t, weights...)
	up.Balance = LeastConnections
	const n = 1000
	for range n {
		var o order
		o.begin(up, time.Now(), false, nil)
		o.next().inFlight.Add(1)
	}
	for i, s := range up.Servers() {
		if got, want := s.InFlight(), n*weights[i]/10; got < want-1 || got > want+1 {
			t.Errorf("%s has %d exchanges in flight, want %d", s.url, got, want)
		}
	}
}

// TestTwoChoicesAvoidTheBusy checks that the busiest server gets only the exchanges that draw
// no other one: none.
func TestTwoChoicesAvoidTheBusy(t *testing.T) {
	t.Parallel()
	up := balanced(t, 1, 1, 1)
	up.Balance = TwoChoices
	up.Servers()[1].inFlight.Store(10)
	if got := shares(up, 1000); got["http://b:1"] != 0 || got["http://a:1"] < 300 || got["http://c:1"] < 300 {
		t.Errorf("the choices are %v", got)
	}
}

// TestHashMovement removes each server in turn. Only its keys move, and to all others.
func TestHashMovement(t *testing.T) {
	t.Parallel()
	const n = 4_000
	for _, weights := range [][]int{{1, 1, 1}, {1, 2, 3, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}} {
		up := balanced(t, weights...)
		up.Balance = Hash
		assign := func(down *Server) (servers [n]*Server) {
			now := time.Now()
			if down != nil {
				down.downUntil.Store(now.Add(downFor).UnixNano())
				defer down.downUntil.Store(0)
			}
			for i := range servers {
				var o order
				o.begin(up, now, false, nil)
				o.setKey(xxhash.Sum64String(fmt.Sprint("key ", i)))
				servers[i] = o.next().Server
			}
			return servers
		}
		before := assign(nil)
		for _, gone := range up.Servers() {
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
				t.Errorf("%v: the keys of %s have moved to %d servers only", weights, gone.url, len(moved))
			}
		}
		if assign(nil) != before {
			t.Errorf("%v: the assignment depends on more than the key", weights)
		}
	}
}

// TestHashKey checks the key of each kind, and that the hash is the same in all versions and
// processes.
func TestHashKey(t *testing.T) {
	t.Parallel()
	client := netip.MustParseAddr("192.0.2.1")
	header := []Field{{"X-USER", "ada"}, {"x-user", "bob"}, {"Cookie", "a=1; s=7"}, {"Cookie", "s=8"}, {"X-Empty", ""}}
	byClient := (&HashKey{}).hash(header, "/a?b", client)
	for _, c := range []struct {
		key  HashKey
		want uint64
	}{
		{HashKey{}, 0xde3cbbe5a2240bf0},
		{HashKey{By: ByPath}, xxhash.Sum64String("/a")},
		{HashKey{ByHeader, "x-user"}, xxhash.Sum64String("ada")},
		{HashKey{ByCookie, "s"}, xxhash.Sum64String("7")},
		{HashKey{ByCookie, "S"}, byClient},
		{HashKey{ByHeader, "X-Empty"}, byClient},
		{HashKey{ByHeader, "X-Missing"}, byClient},
	} {
		if got := c.key.hash(header, "/a?b", client); got != c.want {
			t.Errorf("%v: %#x, want %#x", c.key, got, c.want)
		}
	}
	var k HashKey
	same := k.hash(nil, "/", netip.MustParseAddr("2001:db8::1"))
	if k.hash(nil, "/", netip.MustParseAddr("2001:db8::ffff")) != same ||
		k.hash(nil, "/", netip.MustParseAddr("2001:db8:0:1::1")) == same {
		t.Error("an IPv6 client is not its /64")
	}
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
				up := balanced(b, benchmarkWeights(name, n)...)
				up.Balance = policy
				var o order
				now, key := time.Now(), uint64(0)
				b.ReportAllocs()
				for b.Loop() {
					o.begin(up, now, false, nil)
					key += 0x9e3779b97f4a7c15
					o.setKey(key)
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

// TestChoiceAllocations checks that no policy allocates.
func TestChoiceAllocations(t *testing.T) {
	for _, policy := range []Policy{RoundRobin, LeastConnections, TwoChoices, Hash} {
		up := balanced(t, 3, 1, 1, -1)
		up.Balance, up.HashKey = policy, HashKey{ByCookie, "s"}
		header := []Field{{"Cookie", "a=1; s=7"}}
		client := netip.MustParseAddr("2001:db8::1")
		var o order
		if n := testing.AllocsPerRun(100, func() {
			o.begin(up, time.Time{}, false, nil)
			o.setKey(up.HashKey.hash(header, "/", client))
			o.next()
		}); n != 0 {
			t.Errorf("policy %d: %v allocations for a choice", policy, n)
		}
	}
}
