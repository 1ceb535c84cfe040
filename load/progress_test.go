package load_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/target"
)

// lastProgress runs a plan and returns its last progress.
func lastProgress(t *testing.T, plan load.Plan) (last load.Progress) {
	t.Helper()
	plan.Process = -1
	plan.Progress = func(p load.Progress) { last = p }
	if _, err := load.Run(context.Background(), plan); err != nil {
		t.Fatal(err)
	}
	return last
}

func TestProgressCountsTheLatenciesOfTheLastSecond(t *testing.T) {
	t.Parallel()
	server := testkit.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	p := lastProgress(t, load.Plan{
		Targets: []target.Target{{URL: server.URL}}, Requests: 1, ProgressEvery: time.Hour,
	})
	sum := int64(0)
	for _, n := range p.Buckets {
		sum += n
	}
	if want := len(load.LatencyBounds()) + 1; len(p.Buckets) != want || sum != 1 || !p.Done {
		t.Errorf("%d buckets with %d requests, done: %v; want %d with 1", len(p.Buckets), sum, p.Done, want)
	}
}

func TestLatencyBoundsHaveThePowersOfTen(t *testing.T) {
	t.Parallel()
	bounds := load.LatencyBounds()
	for i := 0; i < len(bounds); i += 6 {
		want := 10 * time.Microsecond
		for range i / 6 {
			want *= 10
		}
		if bounds[i] != want {
			t.Errorf("bound %d is %v, want %v", i, bounds[i], want)
		}
	}
	if last := bounds[len(bounds)-1]; last != 100*time.Second {
		t.Errorf("the last bound is %v", last)
	}
}
