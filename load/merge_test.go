package load_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// startIn is how long before their start runs are made ready, on a machine that is busy with
// other tests.
const startIn = 4 * time.Second

// runShares executes shares of a plan at the same time, each with another number of threads.
func runShares(t *testing.T, p load.Plan, of int, numbers ...int) []*load.Result {
	t.Helper()
	p.StartAt, p.Seed = time.Now().Add(startIn), 7
	results := make([]*load.Result, len(numbers))
	var running sync.WaitGroup
	for i, n := range numbers {
		p := p
		p.Share, p.Threads = load.Share{Number: n, Of: of}, n
		running.Go(func() {
			var err error
			if results[i], err = load.Run(t.Context(), p); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, r := range results {
		checkSums(t, r)
		if began := r.Series[0].Start; !r.Started.Equal(p.StartAt) || began != 0 {
			t.Errorf("share %v started at %v and %v s, want %v", r.Share.Share, r.Started, began, p.StartAt)
		}
	}
	return results
}

// merge merges results and checks the sums of the result.
func merge(t *testing.T, shares []*load.Result) *load.Result {
	t.Helper()
	r, err := load.Merge(shares)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	return r
}

// TestSharesSendEachRequestOnce executes all shares of a plan. The server gets each request of the open loop
// once, and in both loops the number of requests and each line of a file equally often.
func TestSharesSendEachRequestOnce(t *testing.T) {
	t.Parallel()
	const requests, connections = 600, 10
	names := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(names, []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, pace := range map[string]pace.Pace{"closed loop": {}, "open loop": pace.Rate(1000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			paths, lines := map[string]int{}, map[string]int{}
			s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				paths[r.URL.Path]++
				lines[r.URL.RawQuery]++
			})
			shares := runShares(t, load.Plan{
				Targets: []target.Target{{URL: fmt.Sprintf("%s/{{seq}}?{{line %q}}", s.URL, names)}}, Pace: pace,
				Requests: requests, Connections: connections, Points: 1000,
			}, 3, 3, 1, 2)
			r := merge(t, shares)
			mu.Lock()
			defer mu.Unlock()
			if r.Requests != requests || r.Asked != requests || r.Connections < connections || r.Threads != 6 {
				t.Errorf("%d asked and %d answered by %d connections and %d threads", r.Asked, r.Requests,
					r.Connections, r.Threads)
			}
			if n := len(r.Points); n < 100 || n > 1000 {
				t.Errorf("%d points, want at most those of the plan", n)
			}
			for i := range requests {
				if n := paths[fmt.Sprintf("/%d", i)]; pace.Stages != nil && n != 1 {
					t.Errorf("request %d was sent %d times", i, n)
				}
			}
			if lines["a"] != requests/3 || lines["b"] != requests/3 || lines["c"] != requests/3 {
				t.Errorf("the lines were sent %v times, want %d each", lines, requests/3)
			}
			if len(r.Generators) != 3 || r.Generators[0].Number != 1 || r.Generators[0].Requests != requests/3 {
				t.Errorf("the generators are %+v", r.Generators)
			}
		})
	}
}

// TestSharesHaveDifferentArrivals executes the shares of random arrivals: there are about as many as the
// pace asks for, and they differ between shares.
func TestSharesHaveDifferentArrivals(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	shares := runShares(t, load.Plan{Targets: targets(s.URL), Pace: pace.Pace{Poisson: true,
		Stages: []pace.Stage{{Duration: time.Second, From: 1000, To: 3000}}}}, 2, 1, 2)
	r := merge(t, shares)
	if r.Asked < 1800 || r.Asked > 2200 || r.Pacing.AskedPerSecond != float64(r.Asked) { // 4.5 standard deviations
		t.Errorf("%d asked, %v per second; want about 2000", r.Asked, r.Pacing.AskedPerSecond)
	}
	if v := r.Pacing.Variance10ms; v < 10 { // on a busy machine, late requests make it larger
		t.Errorf("the variance in 10 ms is %v, want about the mean, which is 20", v)
	}
	if shares[0].Asked == shares[1].Asked && shares[0].Latency.Histogram == shares[1].Latency.Histogram {
		t.Error("both shares have the same arrivals")
	}
}

// TestMissingShareGivesAWarning merges two of three shares. The result has their requests, and a
// warning with the rate of the plan. It names 200 requests per second, or fewer if some were late.
func TestMissingShareGivesAWarning(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	r := merge(t, runShares(t, load.Plan{Targets: targets(s.URL), Pace: pace.Rate(300), Duration: time.Second}, 3, 3, 1))
	all := strings.Join(r.Warnings, "\n")
	if r.Asked != 200 || r.Pacing.AskedPerSecond != 300 || !strings.Contains(all, "2 of the plan's 3 shares; missing: 2/3") ||
		!strings.Contains(all, " requests per second were sent, of 300 that the pace asked for") {
		t.Errorf("%d asked, %v per second; warnings:\n%s", r.Asked, r.Pacing.AskedPerSecond, all)
	}
}

// TestMergeRefusesOtherResults merges results that are not the shares of one run.
func TestMergeRefusesOtherResults(t *testing.T) {
	t.Parallel()
	share := func(number int, change func(*load.Result)) *load.Result {
		r := &load.Result{URL: "http://a/", Pace: "closed loop", Share: &load.ShareResult{
			Share: load.Share{Number: number, Of: 3}, StartAt: time.Unix(1e9, 0).UTC(), Connections: 64}}
		change(r)
		return r
	}
	none := func(*load.Result) {}
	damaged := share(2, func(r *load.Result) { r.Asked, r.Sent, r.Requests, r.Latency = 9, 9, 9, &load.Latency{Count: 8} })
	if _, err := load.Merge([]*load.Result{damaged}); err == nil {
		t.Error("no error for latencies of fewer requests than were answered")
	}
	for want, second := range map[string]*load.Result{
		"result 2 belongs to a whole plan, not to a share":               share(2, func(r *load.Result) { r.Share = nil }),
		"result 2 has no valid share: 4/3":                               share(4, none),
		"result 2 is damaged: the numbers of its requests do not add up": share(2, func(r *load.Result) { r.Requests-- }),
		"results 1 and 2 are of different plans: number of targets 0 and 1": share(2,
			func(r *load.Result) { r.Targets = make([]load.TargetResult, 1) }),
		"result 2 is merged already":                                       share(2, func(r *load.Result) { r.Generators = make([]load.GeneratorShare, 1) }),
		"results 1 and 2 are both share 1/3":                               share(1, none),
		"results 1 and 2 are of different plans: pace closed loop and 5/s": share(2, func(r *load.Result) { r.Pace = "5/s" }),
		"results 1 and 2 are of different plans: connections 64 and 65":    share(2, func(r *load.Result) { r.Share.Connections++ }),
		"results 1 and 2 are of different plans: number of shares 3 and 4": share(2, func(r *load.Result) { r.Share.Of++ }),
		"results 1 and 2 are of different plans: seed 0 and 1":             share(2, func(r *load.Result) { r.Seed++ }),
		"results 1 and 2 did not start at the same time: 2001-09-09T01:46:40Z and 2001-09-09T01:46:41Z": share(2,
			func(r *load.Result) { r.Share.StartAt = r.Share.StartAt.Add(time.Second) }),
	} {
		_, err := load.Merge([]*load.Result{share(1, none), second})
		if err == nil || err.Error() != "load: "+want || !errors.As(err, new(*load.MergeError)) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestImpossibleSharesAreRefused executes shares that their plan cannot have.
func TestImpossibleSharesAreRefused(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(time.Minute)
	for want, p := range map[string]load.Plan{
		"there is no share 4/3":  {Share: load.Share{Number: 4, Of: 3}, StartAt: soon, Seed: 1},
		"a Share and no StartAt": {Share: load.Share{Number: 1, Of: 3}, Seed: 1},
		"a Share and no Seed":    {Share: load.Share{Number: 1, Of: 3}, StartAt: soon},
		"a plan with 2 connections and any number of requests cannot have 3 shares": {
			Share: load.Share{Number: 1, Of: 3}, StartAt: soon, Seed: 1, Connections: 2},
		"a plan with 2 connections and 2 requests cannot have 3 shares": {
			Share: load.Share{Number: 1, Of: 3}, StartAt: soon, Seed: 1, Requests: 2},
	} {
		p.Targets = targets("http://127.0.0.1:1/")
		if _, err := load.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestRunStartsAtItsTime starts runs at a time, which must not have passed.
func TestRunStartsAtItsTime(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	p := load.Plan{Targets: targets(s.URL), Requests: 1, StartAt: time.Now().Add(startIn)}
	if r := run(t, p); time.Now().Before(p.StartAt) || !r.Started.Equal(p.StartAt) {
		t.Errorf("started at %v, want %v", r.Started, p.StartAt)
	}
	p.StartAt = time.Now().Add(-time.Hour)
	if _, err := load.Run(t.Context(), p); !errors.As(err, new(*load.StartError)) {
		t.Errorf("a start an hour ago: %v", err)
	}
	p.StartAt = time.Now().Add(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := load.Run(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted before the start: %v", err)
	}
	if n := s.asked.Load(); n != 1 {
		t.Errorf("%d requests arrived, want that of the first run", n)
	}
}

// TestSnapshotsReplaceLostShares merges a share of which only the snapshots of its first seconds are left with
// a complete one. Requests that were under way are in none of its counts.
func TestSnapshotsReplaceLostShares(t *testing.T) {
	t.Parallel()
	for name, pace := range map[string]pace.Pace{"closed loop": {}, "open loop": pace.Rate(400)} {
		for _, paths := range [][]string{{"/a"}, {"/a", "/b"}} {
			t.Run(fmt.Sprint(name, len(paths)), func(t *testing.T) {
				t.Parallel()
				s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(300 * time.Millisecond):
					case <-r.Context().Done():
					}
				})
				p := load.Plan{Pace: pace, Duration: 2500 * time.Millisecond, Connections: 20}
				for _, path := range paths {
					p.Targets = append(p.Targets, target.Target{URL: s.URL + path})
				}
				var mu sync.Mutex
				lost := make(map[int]*load.Result)
				p.Snapshot = func(r *load.Result) {
					mu.Lock()
					defer mu.Unlock()
					n := r.Share.Number
					if r.DurationSeconds >= 2.5 { // the share was late, and this is its end
						return
					}
					if before := lost[n]; before != nil {
						r.Series = append(before.Series, r.Series...)
					}
					lost[n] = r
				}
				whole := runShares(t, p, 2, 1, 2)
				if lost[1] == nil {
					t.Fatal("no snapshot within 2.5 s")
				}
				share := *lost[1].Share
				share.Lost, lost[1].Share = "it was killed", &share
				r := merge(t, []*load.Result{lost[1], whole[1]})
				warning := fmt.Sprintf("share 1/2 was lost after %.1f s", lost[1].DurationSeconds)
				if lost[1].Requests == 0 || r.Requests != lost[1].Requests+whole[1].Requests ||
					len(r.Series) < len(lost[1].Series) || !strings.Contains(strings.Join(r.Warnings, "\n"), warning) {
					t.Errorf("%d answered, %d of the lost share, %d seconds, warnings %q", r.Requests, lost[1].Requests,
						len(r.Series), r.Warnings)
				}
				if n := lost[1].Sent; n >= whole[0].Sent || n != lost[1].Requests {
					t.Errorf("%d sent and %d answered, %d sent in the end", n, lost[1].Requests, whole[0].Sent)
				}
			})
		}
	}
}
