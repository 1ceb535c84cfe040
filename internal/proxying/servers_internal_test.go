package proxying

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// balanced returns an upstream of servers with the given weights. A negative one is that of a
// backup. The servers are not connected to.
func balanced(t testing.TB, options Options, weights ...int) *Upstream {
	t.Helper()
	options.Servers = endpoints(weights...)
	up, err := NewUpstream("test", options)
	if err != nil {
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
		t := transfer{up: up, x: new(Exchange)}
		t.beginOrder(now)
		if m := t.order.Place(); m == nil {
			b.WriteByte('-')
		} else {
			m.Leave()
			b.WriteByte(t.set.members[m.Index].url[len("http://")])
		}
	}
	return b.String()
}

// TestAddedServerHasSlowStart checks that a server that is added has a slow start, unless it is one of
// the first, and that servers without others get all exchanges.
func TestAddedServerHasSlowStart(t *testing.T) {
	t.Parallel()
	up := balanced(t, Options{SlowStart: time.Hour}, 1, 1)
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
	now := balanced(t, Options{SlowStart: time.Hour}, 1, 1, 1, 1)
	now.Adopt(up)
	if got := choices(now, time.Now(), 100); strings.ContainsAny(got, "cd") || now.Servers()[3].stateAt(time.Now(), time.Hour) != Starting {
		t.Errorf("after a reload, the choices are %s", got)
	}
	for _, s := range now.Servers()[:2] {
		s.SetDraining(true)
	}
	if got := choices(now, time.Now(), 100); strings.ContainsAny(got, "ab-") || strings.Count(got, "c") != 50 {
		t.Errorf("if all servers are in their slow start, the choices are %s", got)
	}
}
