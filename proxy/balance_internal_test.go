package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"
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
