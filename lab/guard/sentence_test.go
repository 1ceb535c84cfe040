package guard_test

import (
	"slices"
	"testing"

	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// TestBusyGeneratorIsNoted has a run whose load generator was at its limit, which concerns
// conditions of latencies.
func TestBusyGeneratorIsNoted(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string][]string{
		"CPU per request > 5%": nil,
		"p99 > 5%": {"in 1 of 2 runs the load generator was at its limit, or waited for a CPU: latencies include that, and " +
			"hide a part of a difference"},
	} {
		base, change := measured(100, 0), measured(100, 0)
		base.Load.Latency, change.Load.Latency = &load.Latency{P99: 100}, &load.Latency{P99: 100}
		change.Load.Saturated = true
		d, b := guard.NewDecision(conditions(t, condition)), blockOf(base, change, 0.1)
		if err := d.Add(b); err != nil {
			t.Fatal(err)
		}
		want = append(want, "a block was left out, because the base was not measured: no free port")
		r := &guard.Result{Left: []*results.Run{{Configuration: "base", Error: "no free port"}}, Answer: d.Answer(), Conditions: d.Judged(), Blocks: []guard.Block{b}}
		if got := r.Notes(); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", condition, got, want)
		}
	}
}
