package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/load"
)

// differences returns warnings about plans and machines that differ, and about
// results that are not reliable.
func differences(a, b []*load.Result) []string {
	var warnings []string
	all := slices.Concat(a, b)
	for _, p := range properties {
		if w := p.warning(all); w != "" {
			warnings = append(warnings, w)
		}
	}
	return slices.Concat(warnings, doubts("A", a), doubts("B", b))
}

// doubts returns warnings about runs of a side that are not reliable.
func doubts(side string, runs []*load.Result) []string {
	var warnings []string
	for i, r := range runs {
		name := fmt.Sprintf("run %d of %s", i+1, side)
		if r.Saturated {
			reason := "the generator was saturated"
			if r.MachineBusy() {
				reason = "the machine was busy"
			}
			warnings = append(warnings, name+" is not to be trusted: "+reason)
		}
		if r.Interrupted {
			warnings = append(warnings, name+" was interrupted before its end")
		}
		same := func(other *load.Result) bool { return other.Started.Equal(r.Started) && other.URL == r.URL }
		if first := slices.IndexFunc(runs, same); first < i {
			warnings = append(warnings, fmt.Sprintf("%s is the same as run %d: one run is one sample", name, first+1))
		}
	}
	return warnings
}

// A property of a run must be the same in all results.
type property struct {
	name string
	of   func(*load.Result) string    // "" if unknown, in a result of an earlier weir
	same func(x, y *load.Result) bool // nil if the texts must be equal
}

var properties = []property{
	{name: "URL", of: func(r *load.Result) string { return r.URL }},
	{name: "set of requests", of: requests},
	{name: "set of expectations", of: func(r *load.Result) string { return cmp.Or(strings.Join(r.Expect, "; "), "none") }},
	{name: "timeout", of: timeout},
	{name: "protocol", of: func(r *load.Result) string { return r.Protocol }},
	{name: "pace", of: func(r *load.Result) string { return r.Pace }},
	{name: "number of connections", of: connections},
	{name: "pipeline", of: func(r *load.Result) string { return fmt.Sprint(r.Pipeline) }},
	{name: "number of threads", of: func(r *load.Result) string { return fmt.Sprint(r.Threads) }},
	{name: "duration", of: func(r *load.Result) string { return fmt.Sprintf("%.1fs", r.DurationSeconds) },
		same: sameDuration},
	{name: "warm-up", of: func(r *load.Result) string {
		if r.WarmUp == nil {
			return "none"
		}
		return fmt.Sprintf("%gs", r.WarmUp.Seconds)
	}},
	{name: "machine", of: machine},
}

// warning returns a text with the first two values that differ.
func (p property) warning(all []*load.Result) string {
	first := all[0]
	for _, r := range all[1:] {
		same := p.of(r) == p.of(first) || p.of(r) == "" || p.of(first) == ""
		if p.same != nil {
			same = p.same(first, r)
		}
		if !same {
			return fmt.Sprintf("the %s differs: %s and %s", p.name, p.of(first), p.of(r))
		}
	}
	return ""
}

// requests returns a text that differs for different requests.
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

// timeout returns "" for a result without one.
func timeout(r *load.Result) string {
	if r.TimeoutSeconds == 0 {
		return ""
	}
	return fmt.Sprintf("%gs", r.TimeoutSeconds)
}

// connections returns the number of connections. In the open loop it is a result of
// the run, and not a property of its plan.
func connections(r *load.Result) string {
	if open(r) {
		return "as many as needed"
	}
	return fmt.Sprint(r.Connections)
}

// sameDuration allows a difference of a tenth of the longer run.
func sameDuration(x, y *load.Result) bool {
	return math.Abs(x.DurationSeconds-y.DurationSeconds) <= 0.1*max(x.DurationSeconds, y.DurationSeconds)
}

// machine returns the properties of a machine that affect the numbers.
func machine(r *load.Result) string {
	m := r.Machine
	parts := []string{m.System, m.Kernel, m.Processor, fmt.Sprint(m.CPUs, " CPUs")}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}
