package load_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// TestTargetsAreCountedApart checks the counts and the latency of each method and path pattern, in each
// protocol and both loops.
func TestTargetsAreCountedApart(t *testing.T) {
	t.Parallel()
	const slow = 50 * time.Millisecond
	for _, c := range servers {
		for loop, pace := range map[string]pace.Pace{"closed": {}, "open": pace.Rate(400)} {
			t.Run(c.name+", "+loop, func(t *testing.T) {
				t.Parallel()
				s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.URL.Path == "/slow":
						time.Sleep(slow) // the latency to be measured
					case r.URL.Path == "/bad":
						w.WriteHeader(http.StatusTeapot)
					case r.URL.Path == "/gone":
						panic(http.ErrAbortHandler)
					}
					io.WriteString(w, "hello")
				}, c.how)
				r := run(t, load.Plan{
					Targets: []target.Target{
						{URL: s.URL + "/users/{{rand 1 100}}?x=1"}, {URL: s.URL + "/users/{{rand 1 100}}?x=2"},
						{URL: s.URL + "/slow", Body: target.Body{Text: "four"}}, {URL: s.URL + "/bad"},
						{URL: s.URL + "/gone"}, {URL: s.URL},
					},
					Pace: pace, Requests: 60, Connections: 4, Threads: 1, Protocol: c.protocol, TLS: trusting(),
					Timeout: waitLimit, Process: -1,
				})
				var got []string
				for _, target := range r.Targets {
					got = append(got, fmt.Sprintf("%s %s of %d, %d bytes: %v", target.Method, target.Path,
						target.Targets, target.BodyBytes, target.Status))
				}
				want := []string{
					"GET /users/{{rand 1 100}} of 2, 0 bytes: map[2xx:20]", "POST /slow of 1, 4 bytes: map[2xx:10]",
					"GET /bad of 1, 0 bytes: map[4xx:10]", "GET /gone of 1, 0 bytes: map[]",
					"GET / of 1, 0 bytes: map[2xx:10]",
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("targets (-want +got):\n%s", diff)
				}
				if r.Method != "GET" || r.BodyBytes != 0 || r.TimeoutSeconds != waitLimit.Seconds() {
					t.Errorf("the first target is %s with %d bytes, the timeout %v s", r.Method, r.BodyBytes,
						r.TimeoutSeconds)
				}
				if slowest := r.Targets[1].Waited(); slowest.Min < load.Micros(slow.Microseconds()) {
					t.Errorf("the slow target took %v us at least, want %v", slowest.Min, slow)
				}
				if gone := r.Targets[3].Waited(); gone.P50 != load.NeverAnswered {
					t.Errorf("the target without a response took %v us", gone.P50)
				}
			})
		}
	}
}

// checkTargets checks that the sums of the targets are those of the result.
func checkTargets(t *testing.T, r *load.Result) {
	t.Helper()
	var sent, answered, failed, unanswered, counted int64
	status := make(map[string]int64)
	for _, target := range r.Targets {
		sent, answered, failed, unanswered = sent+target.Sent, answered+target.Requests, failed+
			target.Failed, unanswered+target.Unanswered
		for class, n := range target.Status {
			status[class] += n
		}
		if l := target.Waited(); l != nil {
			counted += l.Count
		}
	}
	if sent != r.Sent || answered != r.Requests || failed != r.Failed || unanswered != r.Unanswered ||
		sum(status) != answered {
		t.Errorf("the targets add up to %d sent, %d answered, %d failed, %d unanswered; the result has %d, %d, %d, %d",
			sent, answered, failed, unanswered, r.Sent, r.Requests, r.Failed, r.Unanswered)
	}
	if len(r.Targets) > 1 && counted != sent {
		t.Errorf("%d requests to targets were sent, and their latencies have %d", sent, counted)
	}
}

// TestMostFrequentTargetsAreKept sends more paths than a result has targets. The paths with most requests
// have their own.
func TestMostFrequentTargetsAreKept(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	var all []target.Target
	for i := range 100 {
		all = append(all, target.Target{URL: fmt.Sprintf("%s/%d", s.URL, i)})
	}
	for range 10 {
		all = append(all, target.Target{URL: s.URL + "/often"})
	}
	r := run(t, load.Plan{Targets: all, Requests: 220, Connections: 2, Threads: 1, Process: -1})
	if n := len(r.Targets); n != 20 {
		t.Fatalf("%d targets, want 20", n)
	}
	often, others := r.Targets[18], r.Targets[19]
	if often.Path != "/often" || often.Sent != 20 || others.Path != "" || others.Targets != 82 || others.Sent != 164 {
		t.Errorf("the last two are %+v and %+v; want 20 requests to /often and 164 to 82 others", often, others)
	}
}

// TestOneTargetHasNoOwnLatency checks that the only target has no latencies of its own.
func TestOneTargetHasNoOwnLatency(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	r := run(t, load.Plan{Targets: targets(s.URL + "/x?y=z"), Requests: 5, Connections: 1, Process: -1, Seed: 7})
	want := []load.TargetResult{{Method: "GET", Path: "/x", Targets: 1, Sent: 5, Requests: 5,
		Status: map[string]int64{"2xx": 5}}}
	if diff := cmp.Diff(want, r.Targets); diff != "" || r.Seed != 7 {
		t.Errorf("seed %d; targets (-want +got):\n%s", r.Seed, diff)
	}
}

// TestRequestsHashDependsOnRequests compares the hashes of plans with equal and with different requests.
func TestRequestsHashDependsOnRequests(t *testing.T) {
	t.Parallel()
	s, other := newCounter(t, hello), newCounter(t, hello)
	hash := func(targets ...target.Target) string {
		return run(t, load.Plan{Targets: targets, Requests: 1, Connections: 1, Process: -1}).RequestsHash
	}
	base := target.Target{URL: s.URL + "/x"}
	same := hash(base)
	if got := hash(target.Target{Method: "GET", URL: other.URL + "/x"}); got != same || got == "" {
		t.Errorf("the same request to another origin has the hash %q, want %q", got, same)
	}
	for name, targets := range map[string][]target.Target{
		"query":  {{URL: base.URL + "?y=1"}},
		"method": {{URL: base.URL, Method: "PUT"}},
		"header": {{URL: base.URL, Header: []target.Header{{Name: "Accept", Value: "a/b"}}}},
		"body":   {{URL: base.URL, Method: "GET", Body: target.Body{Text: "x"}}},
		"file":   {{URL: base.URL, Method: "GET", Body: target.Body{File: strings.NewReader("xy"), Size: 2}}},
		"two":    {base, base},
	} {
		if got := hash(targets...); got == same {
			t.Errorf("%s: the hash does not differ", name)
		}
	}
}
