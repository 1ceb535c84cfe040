package compare

import (
	"slices"

	"github.com/weirhq/weir/load"
)

// A target is a method and a path pattern, or a step of a flow, that all results have.
type target struct{ step, method, path string }

// commonTargets returns the targets of all results, if each has several and all
// latencies count from the same moment.
func commonTargets(results []*load.Result) []target {
	var common []target
	for _, t := range results[0].Targets {
		key := target{t.Step, t.Method, t.Path}
		lacks := func(r *load.Result) bool {
			return len(r.Targets) < 2 || key.of(r) == nil || open(r) != open(results[0])
		}
		if t.Path != "" && !slices.ContainsFunc(results, lacks) {
			common = append(common, key)
		}
	}
	return common
}

func (t target) name() string {
	if t.step != "" {
		return t.step
	}
	return t.method + " " + t.path
}

// of returns the target's part of a result, nil if there is none.
func (t target) of(r *load.Result) *load.TargetResult {
	i := slices.IndexFunc(r.Targets, func(p load.TargetResult) bool {
		return p.Step == t.step && p.Method == t.method && p.Path == t.path
	})
	if i < 0 {
		return nil
	}
	return &r.Targets[i]
}

func (t target) latency(r *load.Result) *load.Latency { return t.of(r).Waited() }

// metrics returns the metrics of a target.
func (t target) metrics() []metric {
	var own []metric
	for _, m := range runMetrics {
		if m.check == "p50" || m.check == "p99" {
			own = append(own, m)
		}
	}
	return append(own, metric{name: "not 2xx", unit: "share", whole: t.without2xx})
}

// without2xx returns the share of the target's requests without a 2xx response.
func (t target) without2xx(g group) (measured, bool) {
	var without, sent float64
	for _, r := range g.runs {
		p := t.of(r)
		without += float64(p.Without2xx())
		sent += float64(p.Sent)
	}
	return measured{value: without / sent}, sent > 0
}
