package limit_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/limit"
)

// serve starts a server with p around handler. It returns its URL and a function that
// returns the refusals so far.
func serve(t *testing.T, p limit.Policy, handler http.HandlerFunc) (string, func() []*limit.Refusal) {
	t.Helper()
	var mu sync.Mutex
	var all []*limit.Refusal
	refused := func(_ *http.Request, r *limit.Refusal) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r)
	}
	server := testkit.Serve(t, limit.Middleware(p, refused)(handler))
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return server.URL, func() []*limit.Refusal {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func wantHeader(t *testing.T, answer *http.Response, name, want string) {
	t.Helper()
	if got := answer.Header.Get(name); got != want {
		t.Errorf("%s: got %q, want %q", name, got, want)
	}
}

func ok(http.ResponseWriter, *http.Request) {}

func TestMiddlewareRefusesBeyondTheRate(t *testing.T) {
	byHeader := func(r *http.Request) limit.Key { return limit.KeyOfString(r.Header.Get("X-Client")) }
	rate := limit.NewRate(limit.RateOptions{Every: 10 * time.Second, Burst: 2, Key: byHeader})
	url, refusals := serve(t, rate.Policy("api"), ok)
	for i, want := range []struct {
		status       int
		state, retry string
	}{
		{200, `"api";r=1;t=10`, ""},
		{200, `"api";r=0;t=10`, ""},
		{429, `"api";r=0;t=10`, "10"},
	} {
		answer, body := testkit.Get(t, http.DefaultClient, url)
		if answer.StatusCode != want.status {
			t.Errorf("request %d: got %d %q, want %d", i, answer.StatusCode, body, want.status)
		}
		wantHeader(t, answer, "RateLimit-Policy", `"api";q=2;w=20`)
		wantHeader(t, answer, "RateLimit", want.state)
		wantHeader(t, answer, "Retry-After", want.retry)
	}
	if got := refusals(); len(got) != 1 || got[0].Limit != "api" || !errors.Is(got[0], limit.ErrRate) {
		t.Errorf("refusals: got %v, want one by api", got)
	}
}

// TestZeroLimitsAdmitAllRequests checks that the zero value of every limit admits
// all requests and leaves the response as it is.
func TestZeroLimitsAdmitAllRequests(t *testing.T) {
	for name, p := range map[string]limit.Policy{
		"InFlight": new(limit.InFlight).Policy("zero"),
		"Rate":     new(limit.Rate).Policy("zero"),
		"MaxBody":  limit.MaxBody(0).Policy("zero"),
		"Pace":     limit.Pace{}.Policy("zero"),
	} {
		handler := limit.Middleware(p, nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(w, r.Body); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}))
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest("POST", "/", strings.NewReader("body")))
		if answer.Code != 200 || answer.Body.String() != "body" || answer.Header().Get("RateLimit") != "" {
			t.Errorf("%s: got %d %q %v, want 200 and the body", name, answer.Code, answer.Body, answer.Header())
		}
	}
}

// TestRateWithoutKeyCountsByAddress checks that without a Key the address of the
// connection counts.
func TestRateWithoutKeyCountsByAddress(t *testing.T) {
	handler := limit.Middleware(limit.NewRate(limit.RateOptions{Every: time.Hour}).Policy("client"),
		nil)(http.HandlerFunc(ok))
	for i, c := range []struct {
		remote string
		want   int
	}{
		{"192.0.2.1:1", 200}, {"192.0.2.1:2", 429}, {"192.0.2.2:1", 200}, {"", 200}, {"@", 429},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		if answer.Code != c.want {
			t.Errorf("request %d from %q: got %d, want %d", i, c.remote, answer.Code, c.want)
		}
	}
}

func TestMiddlewareRefusesWhenFull(t *testing.T) {
	f := limit.NewInFlight(limit.InFlightOptions{Max: 1})
	entered, leave := make(chan bool), make(chan bool)
	url, refusals := serve(t, f.Policy("site"), func(http.ResponseWriter, *http.Request) {
		entered <- true
		<-leave
	})
	first := make(chan *http.Response)
	go func() {
		answer, err := http.Get(url)
		if err != nil {
			t.Error(err)
		} else {
			answer.Body.Close()
		}
		first <- answer
	}()
	<-entered
	answer, body := testkit.Get(t, http.DefaultClient, url)
	if want := `503 Service Unavailable: limit "site"` + "\n"; answer.StatusCode != 503 || body != want {
		t.Errorf("got %d %q, want 503 %q", answer.StatusCode, body, want)
	}
	wantHeader(t, answer, "Retry-After", "1")
	if got := refusals(); len(got) != 1 || !errors.Is(got[0], limit.ErrFull) {
		t.Errorf("refusals: got %v, want one because it is full", got)
	}
	leave <- true
	if answer := <-first; answer != nil && answer.StatusCode != 200 {
		t.Errorf("the request in flight got %d, want 200", answer.StatusCode)
	}
	if s := f.Stats(); s.Entered != 1 || s.Full != 1 || s.InFlight != 0 {
		t.Errorf("stats: got %+v, want one entered and left, one refused", s)
	}
}

// TestMiddlewareLeavesAfterPanic checks that a panic in the handler frees the slot.
func TestMiddlewareLeavesAfterPanic(t *testing.T) {
	f := limit.NewInFlight(limit.InFlightOptions{Max: 1})
	handler := limit.Middleware(f.Policy("site"),
		nil)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") }))
	for range 2 {
		func() {
			defer func() {
				if got := recover(); got != "oh" {
					t.Errorf("recovered %v, want the handler's panic", got)
				}
			}()
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		}()
	}
	if s := f.Stats(); s.InFlight != 0 || s.Entered != 2 {
		t.Errorf("stats: got %+v, want two entered and left", s)
	}
}

func TestMiddlewareRefusesLongBodies(t *testing.T) {
	var read atomic.Int64
	url, refusals := serve(t, limit.MaxBody(10).Policy("body"), func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		read.Store(n)
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	})
	for _, c := range []struct {
		length int
		known  bool
		status int
		read   int64
	}{
		{10, true, 200, 10},
		{11, true, 413, -1},
		{10, false, 200, 10},
		{11, false, 413, 10},
		{1 << 20, false, 413, 10},
	} {
		read.Store(-1)
		var body io.Reader = strings.NewReader(strings.Repeat("x", c.length))
		if !c.known {
			body = struct{ io.Reader }{body}
		}
		answer, err := http.Post(url, "text/plain", body)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status || read.Load() != c.read {
			t.Errorf("body of %d bytes, length known %v: got %d and %d bytes, want %d and %d",
				c.length, c.known, answer.StatusCode, read.Load(), c.status, c.read)
		}
	}
	if got := refusals(); len(got) != 1 || !errors.Is(got[0], limit.ErrBody) || got[0].RetryAfter != 0 {
		t.Errorf("refusals: got %v, want the one with a known length", got)
	}
}

func TestRetrySecondsRoundUp(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		-time.Second: 1, 0: 1, 1: 1, time.Second: 1, time.Second + 1: 2, time.Minute: 60, 1<<63 - 1: 9223372037,
	} {
		if got := limit.RetrySeconds(d); got != want {
			t.Errorf("RetrySeconds(%v) = %d, want %d", d, got, want)
		}
	}
}

func TestRateHeadersNamePolicyAndState(t *testing.T) {
	for _, c := range []struct {
		every         time.Duration
		burst         int
		name          string
		policy, state string
	}{
		{100 * time.Millisecond, 20, "site", `"site";q=20;w=2`, `"site";r=19;t=2`},
		{100 * time.Millisecond, 15, "site", `"site";q=20;w=2`, `"site";r=14;t=2`},
		{10 * time.Millisecond, 10, "site", `"site";q=100;w=1`, `"site";r=9;t=1`},
		{time.Minute, 1, "site", `"site";q=1;w=60`, `"site";r=0;t=60`},
		{time.Hour, 100, "a \"b\" \\ c\nü", `"a \"b\" \\ c??";q=100;w=360000`, `"a \"b\" \\ c??";r=99;t=356400`},
		{1, 1 << 62, "fast", `"fast";q=999999999999999;w=3153600000`, `"fast";r=999999999999999;t=3153600000`},
		{0, 0, "none", `"none";q=999999999999999;w=1`, `"none";r=999999999999999;t=1`},
	} {
		r := limit.NewRate(limit.RateOptions{Every: c.every, Burst: c.burst})
		d := r.Allow(someTime, key(1))
		if got := string(r.AppendPolicy(nil, c.name)); got != c.policy {
			t.Errorf("%v, %d: policy %s, want %s", c.every, c.burst, got, c.policy)
		}
		if got := string(r.AppendState(nil, c.name, d)); got != c.state {
			t.Errorf("%v, %d: state %s, want %s", c.every, c.burst, got, c.state)
		}
	}
}

// TestRetryAfterIsEnough waits exactly as long as Retry-After says, and checks that the
// next request is admitted.
func TestRetryAfterIsEnough(t *testing.T) {
	for _, every := range []time.Duration{300 * time.Millisecond, time.Second, 2500 * time.Millisecond, time.Minute} {
		r := limit.NewRate(limit.RateOptions{Every: every, Burst: 3})
		now := someTime
		for range 20 {
			d := r.Allow(now, key(1))
			for d.OK {
				d = r.Allow(now, key(1))
			}
			wait := time.Duration(limit.RetrySeconds(d.RetryAfter)) * time.Second
			if want := `"x";r=0;t=` + strconv.Itoa(int(wait/time.Second)); string(r.AppendState(nil, "x", d)) != want {
				t.Errorf("%v: state %s, want %s like Retry-After", every, r.AppendState(nil, "x", d), want)
			}
			now = now.Add(wait)
			if d := r.Allow(now, key(1)); !d.OK {
				t.Errorf("%v: refused after the %v of Retry-After: %+v", every, wait, d)
			}
		}
	}
}
