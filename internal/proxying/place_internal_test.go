package proxying

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/internal/transport"
)

// A crowd is an upstream with limits whose exchanges take and leave places, without connections.
type crowd struct {
	up    *Upstream
	proxy *Proxy
}

func newCrowd(t testing.TB, limit ServerLimit, servers int) *crowd {
	weights := make([]int, servers)
	for i := range weights {
		weights[i] = 1
	}
	up := balanced(t, Options{Limit: limit}, weights...)
	return &crowd{up, &Proxy{Upstream: up}}
}

// begin returns an exchange that is about to choose a server.
func (c *crowd) begin() *Exchange {
	x := &Exchange{Driver: transport.Goroutines}
	t := &x.transfer
	*t = transfer{x: x, up: c.up}
	t.beginOrder(time.Now())
	return x
}

// TestQueueNeverExceedsItsLimit lets many more exchanges take places than there are, some of which are
// cancelled. At no time has a server more than its limit; in the end all places are free, no
// exchange waits, and each has had a place or was cancelled.
func TestQueueNeverExceedsItsLimit(t *testing.T) {
	t.Parallel()
	const exchanges, most, servers = 1000, 2, 3
	c := newCrowd(t, ServerLimit{Max: most, Queue: exchanges, Wait: time.Minute}, servers)
	var at [servers]atomic.Int64
	var placed, gone atomic.Int64
	var running sync.WaitGroup
	for i := range exchanges {
		running.Go(func() {
			x := c.begin()
			if i%5 == 0 {
				go x.Cancel()
			}
			m, err := x.transfer.place()
			if err != nil {
				if err.Kind != ClientGone {
					t.Errorf("failed: %v", err)
				}
				gone.Add(1)
				x.transfer.leave()
				return
			}
			n := &at[m.url[len("http://")]-'a']
			if now := n.Add(1); now > most {
				t.Errorf("%d exchanges at %s", now, m.url)
			}
			for range rand.IntN(100) {
				runtime.Gosched() // others arrive, or are cancelled, meanwhile
			}
			n.Add(-1)
			placed.Add(1)
			x.transfer.leave()
		})
	}
	running.Wait()
	for _, s := range c.up.Servers() {
		if n := s.InFlight(); n != 0 {
			t.Errorf("%d exchanges are left at %s", n, s.url)
		}
	}
	if now, total := c.up.Queued(); now != 0 || total == 0 {
		t.Errorf("%d exchanges wait, %d have waited", now, total)
	}
	if placed.Load()+gone.Load() != exchanges || gone.Load() > exchanges/5 {
		t.Errorf("%d exchanges had a place, %d were cancelled", placed.Load(), gone.Load())
	}
}

// TestQueueServesInOrder checks that exchanges get places in the order of their arrival, that a full
// queue refuses, and that one that is cancelled, or has waited too long, gives its place up.
func TestQueueServesInOrder(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, ServerLimit{Max: 1, Queue: 3, Wait: time.Minute}, 1)
	first := c.begin()
	if _, err := first.transfer.place(); err != nil {
		t.Fatal(err)
	}
	got := make(chan int, 3)
	errs := make(chan *Error, 3)
	var waiting []*Exchange
	for i := range 3 {
		x := c.begin()
		waiting = append(waiting, x)
		go func() {
			_, err := x.transfer.place()
			if err != nil {
				errs <- err
			}
			got <- i
		}()
		awaitQueued(t, c.up, i+1)
	}
	_, err := c.begin().transfer.place()
	if err == nil || err.Kind != QueueFull || err.Status() != 503 || err.ByUpstream() {
		t.Errorf("a full queue: %v", err)
	}
	waiting[1].Cancel()
	if i := <-got; i != 1 || (<-errs).Kind != ClientGone {
		t.Errorf("%d ends instead of the one that is cancelled", i)
	}
	awaitQueued(t, c.up, 2)
	for _, next := range []int{0, 2} {
		first.transfer.leave()
		if i := <-got; i != next {
			t.Errorf("%d got a place, want %d", i, next)
		}
		first = waiting[next]
	}
	c.up.options.Limit.Wait = time.Millisecond
	if _, err := c.begin().transfer.place(); err == nil || err.Kind != QueueTimeout || err.Status() != 503 {
		t.Errorf("waited too long: %v", err)
	}
	first.transfer.leave()
	if now, _ := c.up.Queued(); now != 0 || c.up.Servers()[0].InFlight() != 0 {
		t.Errorf("%d exchanges wait", now)
	}
}

func awaitQueued(t *testing.T, up *Upstream, n int) {
	t.Helper()
	testkit.AwaitEqual(t, "exchanges that wait", func() int { now, _ := up.Queued(); return now }, n)
}

// TestQueueFollowsTheStatesOfServers checks that a waiting exchange gets a server that can be used again, that a
// reload with another limit lets it continue, and that it fails if all servers drain.
func TestQueueFollowsTheStatesOfServers(t *testing.T) {
	t.Parallel()
	limit := ServerLimit{Max: 1, Queue: 10, Wait: time.Minute}
	c := newCrowd(t, limit, 2)
	a, b := c.up.Servers()[0], c.up.Servers()[1]
	b.SetDraining(true)
	occupy := c.begin()
	if m, err := occupy.transfer.place(); err != nil || m.Server != a {
		t.Fatal(m, err)
	}
	got := make(chan *member)
	wait := func() {
		x := c.begin()
		go func() {
			m, err := x.transfer.place()
			if err != nil {
				t.Error(err)
			}
			got <- m
		}()
		awaitQueued(t, c.up, 1)
	}
	wait()
	b.SetDraining(false)
	if m := <-got; m.Server != b {
		t.Errorf("the exchange is at %s", m.url)
	}

	wait()
	next := balanced(t, Options{Limit: limit}, 1, 1)
	next.Adopt(c.up)
	x := (&crowd{next, &Proxy{Upstream: next}}).begin()
	x.transfer.at = a
	x.transfer.leave() // the exchange that occupies a, as if it had begun after the reload
	if m := <-got; m.Server != a {
		t.Errorf("after a reload, the exchange is at %s", m.url)
	}

	wait()
	a.SetDraining(true)
	b.SetDraining(true)
	if m := <-got; m != nil {
		t.Errorf("while all servers drain, the exchange is at %s", m.url)
	}
}

// TestQueueLeavesBackupsUnused checks that a full server does not put the backups to use, and that
// servers without a limit never have a queue.
func TestQueueLeavesBackupsUnused(t *testing.T) {
	t.Parallel()
	up := balanced(t, Options{Limit: ServerLimit{Max: 1}}, 1, -1)
	c := &crowd{up, &Proxy{Upstream: up}}
	if m, err := c.begin().transfer.place(); err != nil || m.backup {
		t.Fatal(m, err)
	}
	if _, err := c.begin().transfer.place(); err == nil || !errors.Is(err, errQueueFull) {
		t.Errorf("with a full server: %v", err)
	}
	up.options.Limit = ServerLimit{}
	if m, err := c.begin().transfer.place(); err != nil || m.backup {
		t.Error(m, err)
	}
}

// TestConnectionLimitCountsUnusedOnes checks that the connections to a server, including unused ones, do not
// exceed the limit. Connections that rest before they are used again are closed instead.
func TestConnectionLimitCountsUnusedOnes(t *testing.T) {
	t.Parallel()
	open := NewConns(10)
	up := balanced(t, Options{Limit: ServerLimit{Max: 2}, Conns: open}, 1)
	p, d := &Proxy{Upstream: up}, &replay{index: 1, response: []byte(typicalResponse)}
	var x Exchange
	for range 50 {
		replayed(t, &x, new(discard), d, p)
		if n, _ := open.Stats(); n < 1 || n > 2 {
			t.Fatalf("%d connections", n)
		}
	}
	up.Close()
	if n, _ := open.Stats(); n != 0 {
		t.Errorf("%d connections after Close", n)
	}
}
