package compare

import (
	"fmt"
	"slices"

	"github.com/weirhq/weir/load"
)

// A target is a method and a path pattern that all results of a comparison have.
type target struct{ method, path string }

// commonTargets are those of all results, when there are several and all latencies count from the same moment.
func commonTargets(results []*load.Result) []target {
	var common []target
	for _, t := range results[0].Targets {
		key := target{t.Method, t.Path}
		lacks := func(r *load.Result) bool {
			return len(r.Targets) < 2 || key.of(r) == nil || open(r) != open(results[0])
		}
		if t.Path != "" && !slices.ContainsFunc(results, lacks) {
			common = append(common, key)
		}
	}
	return common
}

func (t target) name() string { return t.method + " " + t.path }

// of returns the target's part of a result, nil when there is none.
func (t target) of(r *load.Result) *load.TargetResult {
	i := slices.IndexFunc(r.Targets, func(p load.TargetResult) bool { return p.Method == t.method && p.Path == t.path })
	if i < 0 {
		return nil
	}
	return &r.Targets[i]
}

func (t target) latency(r *load.Result) *load.Latency { return t.of(r).Waited() }

// metrics are the rows of a target.
func (t target) metrics(results []*load.Result) []metric {
	from := " from sent"
	if open(results[0]) {
		from = " from due"
	}
	return []metric{
		{name: "p50" + from, unit: "us", whole: latency("p50", func(l *load.Latency) load.Micros { return l.P50 })},
		{name: "p99" + from, unit: "us", whole: latency("p99", func(l *load.Latency) load.Micros { return l.P99 })},
		{name: "not 2xx", unit: "share", whole: t.without2xx},
	}
}

// without2xx is the share of the target's requests without an answer of 2xx.
func (t target) without2xx(g group) (measured, bool) {
	var without, sent float64
	for _, r := range g.runs {
		p := t.of(r)
		without += float64(p.Without2xx())
		sent += float64(p.Sent)
	}
	return measured{value: without / sent}, sent > 0
}

// requests describes the requests of a run, so that different ones have different descriptions.
func requests(r *load.Result) string {
	if r.RequestsHash == "" {
		return ""
	}
	text := fmt.Sprintf("%d targets", len(r.Targets))
	if len(r.Targets) == 1 {
		text = r.Targets[0].Method + " " + r.Targets[0].Path
		if n := r.BodyBytes; n > 0 {
			text += fmt.Sprintf(" with %d bytes", n)
		}
	}
	return fmt.Sprintf("%s (%s)", text, r.RequestsHash)
}

// timeout is "" for a result that does not have it.
func timeout(r *load.Result) string {
	if r.TimeoutSeconds == 0 {
		return ""
	}
	return fmt.Sprintf("%gs", r.TimeoutSeconds)
}
