package limit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/weirhq/weir/limit"
)

// All callers of a program share ten requests per second.
func ExampleRate() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Second / 10, Keys: 1})
	now := time.Now()
	fmt.Println(rate.Allow(now, limit.Key{}).OK, rate.Allow(now, limit.Key{}).OK)
	fmt.Println(rate.Allow(now.Add(time.Second/10), limit.Key{}).OK)
	// Output:
	// true false
	// true
}

// The clients of an API have tokens, and each token has a bucket.
func ExampleRateOptions() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Minute, Burst: 2, Key: func(r *http.Request) limit.Key {
		return limit.KeyOfString(r.Header.Get("Authorization"))
	}})
	handler := limit.Middleware(rate.Policy("token"), nil)(http.NotFoundHandler())
	for _, token := range []string{"a", "a", "a", "b"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(token, w.Code)
	}
	// Output:
	// a 404
	// a 404
	// a 429
	// b 404
}

// A refused request is told when to come back.
func ExampleDecision() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 3})
	now := time.Now()
	for d := rate.Allow(now, limit.Key{}); ; d = rate.Allow(now, limit.Key{}) {
		if !d.OK {
			fmt.Println("again in", d.RetryAfter)
			break
		}
		fmt.Println(d.Remaining, "left, full in", d.Reset)
	}
	// Output:
	// 2 left, full in 1s
	// 1 left, full in 2s
	// 0 left, full in 3s
	// again in 1s
}

// The counts of a rate go to metrics.
func ExampleRateStats() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Minute, Burst: 2})
	now := time.Now()
	for _, client := range []string{"a", "a", "a", "b"} {
		rate.Allow(now, limit.KeyOfString(client))
	}
	s := rate.Stats()
	fmt.Println(s.Admitted, "admitted,", s.Refused, "refused,", s.Keys, "clients")
	// Output: 3 admitted, 1 refused, 2 clients
}

// A route counts by itself, whoever its clients are.
func ExampleKey() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Second})
	now := time.Now()
	fmt.Println(rate.Allow(now, limit.KeyOfString("/search")).OK)
	fmt.Println(rate.Allow(now, limit.KeyOfString("/search")).OK)
	fmt.Println(rate.Allow(now, limit.KeyOfString("/login")).OK)
	// Output:
	// true
	// false
	// true
}

// A caller that must not wait asks whether there is a place.
func ExampleInFlight() {
	inFlight := limit.NewInFlight(limit.InFlightOptions{Max: 1})
	fmt.Println(inFlight.TryEnter(), inFlight.TryEnter())
	inFlight.Leave()
	fmt.Println(inFlight.TryEnter())
	// Output:
	// true false
	// true
}

// The limit can be changed while requests are in flight.
func ExampleInFlightOptions() {
	options := limit.InFlightOptions{Max: 1, Queue: 100, Wait: 200 * time.Millisecond}
	inFlight := limit.NewInFlight(options)
	inFlight.TryEnter()
	options.Max = 2
	inFlight.Change(options)
	fmt.Println(inFlight.TryEnter(), inFlight.TryEnter())
	// Output: true false
}

// The counts of a limit go to metrics.
func ExampleInFlightStats() {
	inFlight := limit.NewInFlight(limit.InFlightOptions{Max: 1})
	for range 3 {
		inFlight.Enter(context.Background()) // an error of the second and the third
	}
	s := inFlight.Stats()
	fmt.Println(s.InFlight, "of", s.Max, "in flight,", s.Full, "refused")
	// Output: 1 of 1 in flight, 2 refused
}

// A body without a Content-Length is refused when it becomes too long.
func ExampleMaxBody() {
	upload := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Println(n, err)
	})
	handler := limit.Middleware(limit.MaxBody(5).Policy("body"), nil)(upload)
	chunked := httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("too long")))
	handler.ServeHTTP(httptest.NewRecorder(), chunked)
	long := httptest.NewRecorder()
	handler.ServeHTTP(long, httptest.NewRequest("POST", "/", strings.NewReader("too long")))
	fmt.Println(long.Code)
	// Output:
	// 5 http: request body too large
	// 413
}

// A policy of one's own uses the same middleware: this one refuses requests at night.
func ExamplePolicy() {
	errNight := errors.New("closed at night")
	night := func(clock func() time.Time) limit.Policy {
		return func(http.ResponseWriter, *http.Request) (func(), *limit.Refusal) {
			now := clock()
			if hour := now.Hour(); hour >= 8 {
				return nil, nil
			}
			opens := time.Date(now.Year(), now.Month(), now.Day(), 8, 0, 0, 0, now.Location())
			return nil, &limit.Refusal{Limit: "night", Status: 503, RetryAfter: opens.Sub(now), Err: errNight}
		}
	}
	clock := func() time.Time { return time.Date(2026, 1, 1, 7, 0, 0, 0, time.UTC) }
	w := httptest.NewRecorder()
	limit.Middleware(night(clock), nil)(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Header().Get("Retry-After"))
	// Output: 503 3600
}

// Refusals are logged by their cause.
func ExampleRefusal() {
	rate := limit.NewRate(limit.RateOptions{Every: time.Minute})
	refused := func(_ *http.Request, why *limit.Refusal) {
		fmt.Println(why.Limit, why.Status, limit.RetrySeconds(why.RetryAfter), errors.Is(why, limit.ErrRate))
	}
	handler := limit.Middleware(rate.Policy("client"), refused)(http.NotFoundHandler())
	for range 2 {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}
	// Output: client 429 60 true
}
