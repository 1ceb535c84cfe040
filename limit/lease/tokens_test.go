package lease_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// TestRequestsOfManyTokensAreServed has requests wait for up to the whole burst, in one replica and in three that use
// the bucket by turns. They get the tokens of the rate, and no request waits forever.
func TestRequestsOfManyTokensAreServed(t *testing.T) {
	for _, replicas := range []int{1, 3} {
		for _, n := range []int{1, 7, 50, 150, 180, 200} {
			synctest.Test(t, func(t *testing.T) {
				const every, burst, d = 10 * time.Millisecond, 200, 2 * time.Minute
				o := limit.RateOptions{Every: every, Burst: burst, Keys: 100}
				f := newFleet(t, replicas, &leasetest.Store{Before: new(network).before}, o)
				defer f.stop()
				time.Sleep(3 * time.Second)
				tokens, longest := 0, time.Duration(0)
				for i, began := 0, time.Now(); time.Since(began) < d; i++ {
					asked := time.Now()
					if err := f.rates[i%replicas].WaitN(t.Context(), client, n); err != nil {
						t.Fatal(err)
					}
					longest = max(longest, time.Since(asked))
					tokens += n
				}
				want := int(d/every) + burst
				t.Logf("%d replicas, requests of %d tokens: %d tokens of %d, the longest wait %v", replicas, n, tokens, want, longest)
				least := want * 9 / 10
				if n == burst {
					least = want * 6 / 10 // the bucket stays full until an exchange
				}
				if tokens < least || tokens > want+burst*replicas {
					t.Errorf("%d replicas, requests of %d tokens: %d tokens in %v, want about %d", replicas, n, tokens, d, want)
				}
				if most := 2*time.Duration(n)*every + 3*time.Second; longest > most {
					t.Errorf("%d replicas, requests of %d tokens: one waited %v, want at most %v", replicas, n, longest, most)
				}
			})
		}
	}
}

func TestMoreThanBurstIsRefusedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1, new(leasetest.Store), limit.RateOptions{Every: time.Millisecond, Burst: 3, Keys: 100})
		defer f.stop()
		time.Sleep(time.Second)
		if d := f.rates[0].AllowN(time.Now(), client, 4); d.OK || d.RetryAfter != 0 {
			t.Errorf("%+v, want a refusal without RetryAfter", d)
		}
	})
}

// TestPolicyIsTheSameForSharedRate compares the responses under a rate that replicas share with those under a rate of
// one process.
func TestPolicyIsTheSameForSharedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := limit.RateOptions{Every: time.Minute, Burst: 2, Keys: 100,
			Key: func(r *http.Request) limit.Key { return limit.KeyOfString(r.Header.Get("Token")) }}
		f := newFleet(t, 1, new(leasetest.Store), o)
		defer f.stop()
		time.Sleep(time.Second)
		var served atomic.Int64
		handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) })
		var all sync.WaitGroup
		responses := make([][]*http.Response, 2)
		for i, rate := range []*limit.Rate{limit.NewRate(o), f.rates[0]} {
			limited := limit.Middleware(rate.Policy("api"), nil)(handler)
			all.Go(func() {
				for _, token := range []string{"a", "a", "a", "b"} {
					r := httptest.NewRequest("GET", "/", nil)
					r.Header.Set("Token", token)
					w := httptest.NewRecorder()
					limited.ServeHTTP(w, r)
					responses[i] = append(responses[i], w.Result())
					time.Sleep(250 * time.Millisecond) // an exchange
				}
			})
		}
		all.Wait()
		for i, local := range responses[0] {
			shared := responses[1][i]
			if local.StatusCode != shared.StatusCode {
				t.Errorf("request %d: status %d, and %d if shared", i, local.StatusCode, shared.StatusCode)
			}
			for _, name := range []string{"RateLimit-Policy", "RateLimit", "Retry-After"} {
				if a, b := local.Header.Get(name), shared.Header.Get(name); a != b {
					t.Errorf("request %d: %s is %q, and %q if shared", i, name, a, b)
				}
			}
		}
		if served.Load() != 6 {
			t.Errorf("%d requests served, want 3 with each rate", served.Load())
		}
	})
}
