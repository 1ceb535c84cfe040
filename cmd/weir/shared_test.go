package main

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestSharedRateIsKeptByThreeDoors sends an uneven and changing load, three times the rate in sum, to three front
// doors with a common rate. It kills the server of the rate, or stops it with SIGSTOP, for a sixth
// of the time.
func TestSharedRateIsKeptByThreeDoors(t *testing.T) {
	parallel(t)
	for _, c := range []sharedFault{
		{name: "without a fault", most: 2},
		{"killed", (*peer.Redis).Stop, (*peer.Redis).Start, 10},
		{"stopped", func(r *peer.Redis) { r.Signal(syscall.SIGSTOP) }, func(r *peer.Redis) { r.Signal(syscall.SIGCONT) }, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A door that gets no processor admits nothing meanwhile, so that a busy machine needs several runs until one
			// uses up the rate. None may exceed it. TestSimulationKeepsToTheRate of package lease checks both in virtual time.
			const runs = 5
			for i := 1; ; i++ {
				var used bool
				t.Run(fmt.Sprint(i), func(t *testing.T) { used = c.run(t) })
				if used || t.Failed() {
					return
				}
				if i == runs {
					t.Fatalf("of %d runs none has used up the rate under the whole load", runs)
				}
			}
		})
	}
}

// A sharedFault is what happens to the server of a rate.
type sharedFault struct {
	name      string
	fail, end func(*peer.Redis)
	most      float64 // difference from the rate, in percent
}

// run sends the load, and checks that the doors admit no more than the rate. It reports whether they have admitted as
// much.
func (c *sharedFault) run(t *testing.T) (used bool) {
	t.Helper()
	server := peer.StartRedis(t, peer.RedisOptions{})
	doors := sharingDoors(t, server)
	d := inSoak(6*time.Second, time.Minute)
	var fault sync.WaitGroup
	if c.fail != nil {
		fault.Go(func() {
			time.Sleep(d / 3)
			c.fail(server)
			time.Sleep(d / 6)
			c.end(server)
		})
	}
	l := loadOf(t, doors, d)
	fault.Wait()
	want := l.oneBucket()
	off := 100 * (float64(l.admitted)/float64(want) - 1)
	t.Logf("%d of %d requests admitted in %v, %+.2f%% from the %d of one bucket; p99 took %v, p99.9 %v",
		l.admitted, l.sent, d, off, want, l.quantile(0.99), l.quantile(0.999))
	most := c.most + inSoak(1.5, 0) // a short load leaves tokens in the leases
	if off > most {
		t.Errorf("%+.2f%% from the rate, want at most %v%%", off, most)
	}
	if l.failed > 0 {
		t.Errorf("%d requests failed", l.failed)
	}
	return off >= -most && float64(l.sent)/d.Seconds() >= 2*sharedPerSecond
}

// TestSharedRateAdmitsAfterAPause stops a front door with eight shared rates that are used up, for longer than the time
// for which it plans. It admits requests of all of them when it continues.
func TestSharedRateAdmitsAfterAPause(t *testing.T) {
	parallel(t)
	server := peer.StartRedis(t, peer.RedisOptions{})
	p := door(t, fmt.Sprintf(`drain: {delay: off}
routes:
- match: "/{path...}"
  respond: {status: 200}
  limits: {rate: {per: "header X-Key", limit: 5/s, burst: 2, shared: "redis://%s"}}
`, server.Address))
	url := p.url()
	var admitted, refused [8]atomic.Int64
	var sent atomic.Int64
	stop := repeatedly(t, 16, func(c *http.Client) bool {
		time.Sleep(10 * time.Millisecond)
		key := sent.Add(1) % int64(len(admitted))
		req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		if err != nil {
			t.Error(err)
			return false
		}
		req.Header.Set("X-Key", fmt.Sprint(key))
		switch a, err := try(c, req); {
		case err != nil:
			t.Error(err)
			return false
		case a.StatusCode == http.StatusOK:
			admitted[key].Add(1)
		case a.StatusCode == http.StatusTooManyRequests:
			refused[key].Add(1)
		default:
			t.Errorf("status %d", a.StatusCode)
		}
		return true
	})
	defer stop()
	for i := range refused {
		testkit.Await(t, "refusals", func() bool { return refused[i].Load() >= 10 })
	}
	p.signal(syscall.SIGSTOP)
	time.Sleep(2 * time.Second)
	var before [len(admitted)]int64
	for i := range before {
		before[i] = admitted[i].Load()
	}
	p.signal(syscall.SIGCONT)
	for i := range before {
		testkit.Await(t, "admitted requests after the pause", func() bool { return admitted[i].Load() >= before[i]+10 })
	}
}

const (
	sharedPerSecond = 300
	sharedBurst     = 100
)

// sharingDoors starts three front doors that share a rate, and waits until they know each other.
func sharingDoors(t *testing.T, server *peer.Redis) (urls []string) {
	t.Helper()
	for i := range 3 {
		p := start(t, "serve", "--config", configFile(t, fmt.Sprintf(`drain: {delay: off}
log: {events: completed, level: warn}
routes:
- match: "/{path...}"
  respond: {status: 200}
  limits: {rate: {per: route, limit: 300/s, burst: %d, shared: "redis://%s"}}
`, sharedBurst, server.Address)), "--listen", fmt.Sprintf("127.0.0.%d:0", i+1))
		urls = append(urls, p.url())
		admin := p.admin()
		t.Cleanup(func() { p.signal(syscall.SIGTERM); p.wait(0) })
		defer testkit.AwaitEqual(t, "three replicas", func() float64 { return metric(t, admin, "weir_shared_limits_replicas") }, 3)
	}
	return urls
}

// A sharedLoad is the result of loadOf.
type sharedLoad struct {
	admitted, sent, failed int64
	mu                     sync.Mutex
	times                  []time.Duration // that requests took
	ends                   []time.Duration // of requests, since the start
}

// oneBucket returns the number of requests that a single bucket would have admitted. If the machine
// has no time for requests, no bucket admits them.
func (l *sharedLoad) oneBucket() (admitted int) {
	slices.Sort(l.ends)
	tokens, last := float64(sharedBurst), time.Duration(0)
	for _, end := range l.ends {
		tokens = min(sharedBurst, tokens+(end-last).Seconds()*sharedPerSecond)
		last = end
		if tokens >= 1 {
			tokens--
			admitted++
		}
	}
	return admitted
}

func (l *sharedLoad) quantile(q float64) time.Duration {
	slices.Sort(l.times)
	return l.times[min(int(q*float64(len(l.times))), len(l.times)-1)]
}

// loadOf sends the load for a time. A door gets a half, a third or a sixth of it, and another part
// after each ninth of the time.
func loadOf(t *testing.T, doors []string, d time.Duration) *sharedLoad {
	l := new(sharedLoad)
	var admitted, sent, failed atomic.Int64
	var sending sync.WaitGroup
	began := time.Now()
	for i, url := range doors {
		due := make(chan struct{}, 10000)
		sending.Go(func() {
			defer close(due)
			for owed, last := 0.0, began; time.Since(began) < d; time.Sleep(5 * time.Millisecond) {
				part := float64(1+(i+int(9*time.Since(began)/d))%3) / 6
				owed += 3 * sharedPerSecond * part * time.Since(last).Seconds()
				last = time.Now()
				for ; owed >= 1; owed-- {
					due <- struct{}{}
				}
			}
		})
		for range 4 {
			c := client(t)
			sending.Go(func() {
				for range due {
					at := time.Now()
					req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
					if err != nil {
						t.Error(err)
						return
					}
					resp, err := try(c, req)
					took := time.Since(at)
					sent.Add(1)
					switch {
					case err == nil && resp.StatusCode == 200:
						admitted.Add(1)
					case err != nil || resp.StatusCode != 429:
						failed.Add(1)
					}
					l.mu.Lock()
					l.times = append(l.times, took)
					l.ends = append(l.ends, time.Since(began))
					l.mu.Unlock()
				}
			})
		}
	}
	sending.Wait()
	l.admitted, l.sent, l.failed = admitted.Load(), sent.Load(), failed.Load()
	return l
}
