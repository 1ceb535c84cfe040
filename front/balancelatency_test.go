package front_test

import (
	"cmp"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
)

// TestBalanceGivesSlowServerASmallShare sends requests to three servers, one of which takes as long as the others take
// for twenty requests. The policies that count the requests in flight send it only a small share.
func TestBalanceGivesSlowServerASmallShare(t *testing.T) {
	t.Parallel()
	const clients, requests, slower = 24, 600, 20
	for _, policy := range []string{upstreams.BalanceRoundRobin, upstreams.BalanceTwoChoices, upstreams.BalanceLeastConnections} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			up := upstreams.Upstream{Name: "site", Balance: policy}
			var fast, atSlow, inSlow atomic.Int64
			for _, h := range []http.HandlerFunc{
				func(w http.ResponseWriter, r *http.Request) { fast.Add(1) },
				func(w http.ResponseWriter, r *http.Request) { fast.Add(1) },
				func(w http.ResponseWriter, r *http.Request) {
					atSlow.Add(1)
					inSlow.Add(1)
					defer inSlow.Add(-1)
					for enough := fast.Load() + slower; fast.Load() < enough && fast.Load()+atSlow.Load() < requests &&
						inSlow.Load() < clients; {
						time.Sleep(time.Millisecond)
					}
				},
			} {
				up.Servers = append(up.Servers, upstreams.Server{URL: upstream(t, h).URL})
			}
			d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
			var asked atomic.Int64
			var asking sync.WaitGroup
			for range clients {
				asking.Go(func() {
					for client := httpClient(t); asked.Add(1) <= requests; {
						get(t, client, d.url("/"))
					}
				})
			}
			asking.Wait()
			share := float64(atSlow.Load()) / requests
			t.Logf("%s: %.1f %% at the slow server", policy, 100*share)
			if policy == upstreams.BalanceRoundRobin != (share > 0.25) {
				t.Errorf("the slow server has %.1f %% of the requests", 100*share)
			}
		})
	}
}

// TestBalanceLatencyIsMeasured measures three servers, one of which takes 40 ms and the others 2 ms. docs/upstreams.md
// has the results of WEIR_LONG=1 go test -v -run BalanceLatency ./front.
func TestBalanceLatencyIsMeasured(t *testing.T) {
	if os.Getenv("WEIR_LONG") == "" {
		t.Skip("it measures, for docs/upstreams.md; WEIR_LONG=1 runs it")
	}
	const clients, fast, slow, run = 24, 2 * time.Millisecond, 40 * time.Millisecond, 5 * time.Second
	for _, policy := range []string{upstreams.BalanceRoundRobin, upstreams.BalanceTwoChoices, upstreams.BalanceLeastConnections} {
		t.Run(policy, func(t *testing.T) {
			up := upstreams.Upstream{Name: "site", Balance: policy}
			var atSlow atomic.Int64
			for _, takes := range []time.Duration{fast, fast, slow} {
				up.Servers = append(up.Servers, upstreams.Server{URL: upstream(t, func(w http.ResponseWriter, r *http.Request) {
					if takes == slow {
						atSlow.Add(1)
					}
					time.Sleep(takes)
				}).URL})
			}
			d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
			var mu sync.Mutex
			var took []time.Duration
			var asking sync.WaitGroup
			end := time.Now().Add(run)
			for range clients {
				asking.Go(func() {
					client := httpClient(t)
					for time.Now().Before(end) {
						began := time.Now()
						get(t, client, d.url("/"))
						mu.Lock()
						took = append(took, time.Since(began))
						mu.Unlock()
					}
				})
			}
			asking.Wait()
			slices.SortFunc(took, cmp.Compare)
			share := float64(atSlow.Load()) / float64(len(took))
			t.Logf("%s: %.0f requests per second, %.1f %% at the slow server, p50 %v, p90 %v, p99 %v", policy,
				float64(len(took))/run.Seconds(), 100*share, took[len(took)/2].Round(100*time.Microsecond),
				took[len(took)*9/10].Round(100*time.Microsecond), took[len(took)*99/100].Round(100*time.Microsecond))
		})
	}
}
