package limit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/weirhq/weir/limit"
)

// One client may send two requests at once and then one per second.
func ExampleRate_Allow() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 2})
	client := limit.KeyOf(netip.MustParseAddr("192.0.2.1"))
	now := time.Now()
	for range 3 {
		d := rate.Allow(now, client)
		fmt.Println(d.OK, d.Remaining, d.RetryAfter)
	}
	// Output:
	// true 1 0s
	// true 0 0s
	// false 0 1s
}

// A request for a page of results takes a token for each ten of them.
func ExampleRate_AllowN() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 20})
	token := limit.KeyOfString("Bearer 123")
	now := time.Now()
	for _, results := range []int{100, 90, 30, 1000} {
		d := rate.AllowN(now, token, results/10)
		fmt.Println(d.OK, d.Remaining, d.RetryAfter)
	}
	// Output:
	// true 10 0s
	// true 1 0s
	// false 1 2s
	// false 1 0s
}

// A job makes calls to a service that admits three at once and then one per minute. It has ten seconds.
func ExampleRate_WaitN() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Minute, Burst: 3})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for call := range 5 {
		if err := rate.WaitN(ctx, limit.Key{}, 1); err != nil {
			fmt.Println(call, "calls, then too late:", errors.Is(err, context.DeadlineExceeded))
			return
		}
	}
	// Output: 3 calls, then too late: true
}

// The buckets of a rate can be elsewhere. This one has no token left.
func ExampleBuckets() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 2, Buckets: empty{}})
	fmt.Println(rate.Allow(time.Now(), limit.Key{}).OK)
	// Output: false
}

type empty struct{}

func (empty) Take(time.Time, limit.Key, int) limit.Decision {
	return limit.Decision{RetryAfter: time.Second}
}

func (empty) Stats() limit.RateStats { return limit.RateStats{} }

// The addresses of a customer have one key.
func ExampleKeyOf() {
	a, b := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	fmt.Println(limit.KeyOf(a) == limit.KeyOf(b))
	// Output: true
}

// A service handles one request at a time, and no request waits.
func ExampleInFlight_Enter() {
	inFlight := limit.NewInFlight(limit.InFlightOptions{Max: 1})
	work := func(r *http.Request, name string, during func()) {
		if err := inFlight.Enter(r.Context()); err != nil {
			fmt.Println(name+":", err)
			return
		}
		defer inFlight.Leave()
		during()
		fmt.Println(name + ": done")
	}
	r := httptest.NewRequest("GET", "/", nil)
	work(r, "first", func() { work(r, "second", func() {}) })
	// Output:
	// second: limit: too many requests in flight and waiting
	// first: done
}

// For several limits, nest their middlewares. The outermost is applied first.
func ExampleMiddleware() {
	tell := func(r *http.Request, why *limit.Refusal) { fmt.Println(r.RemoteAddr, why) }
	rate := limit.NewRate(limit.RateOptions{Every: time.Minute, Burst: 1})
	inFlight := limit.NewInFlight(limit.InFlightOptions{Max: 100, Queue: 200, Wait: 200 * time.Millisecond})

	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		fmt.Fprintln(w, "hello")
	})
	handler = limit.Middleware(inFlight.Policy("site"), tell)(handler)
	handler = limit.Middleware(limit.MaxBody(1<<20).Policy("body"), tell)(handler)
	handler = limit.Middleware(rate.Policy("client"), tell)(handler)

	for range 2 {
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, httptest.NewRequest("GET", "/", nil))
		fmt.Println(response.Code, response.Header().Get("RateLimit"))
		fmt.Print(response.Body)
	}
	// Output:
	// 200 "client";r=0;t=60
	// hello
	// 192.0.2.1:1234 limit "client" refused the request with 429: limit: more requests than the rate allows
	// 429 "client";r=0;t=60
	// 429 Too Many Requests: limit "client"
}

// A peer has to send a kilobyte per second and may pause for three seconds.
func ExamplePace() {
	pace := limit.Pace{PerSecond: 1000, Grace: 3 * time.Second}
	begin := time.Now()
	deadline := pace.Start(begin)
	for second := range 10 {
		now := begin.Add(time.Duration(second) * time.Second)
		if pace.TooSlow(deadline, now) {
			fmt.Println("too slow after", now.Sub(begin))
			break
		}
		deadline = pace.Next(deadline, now, 500) // bytes that passed
	}
	// Output: too slow after 6s
}
