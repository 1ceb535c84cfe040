package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/weirhq/weir/lab/results"
)

// A table has the values of results by metric and configuration.
type table struct {
	baseline, again string // "" if there is none
	configurations  []string
	runs            []Runs      // of each configuration
	blocks          map[int]int // by the number of the run
	contrasts       []results.Contrast
	columns         []column
	undivided       []string // metrics that some runs lack because too many of their requests were not answered
	fails           map[string]failing
}

// A column is one metric.
type column struct {
	Name, Unit string
	Better     results.Better
	own, leads bool
	named      bool               // the experiment names it as leading, or it is in [results.DefaultLead]
	values     map[string][]Value // by configuration, in the order of the runs
}

// absurd is larger than any measurement. Means and differences of two values
// below it are finite.
const absurd = 1e300

// tableOf collects the values of the runs that were measured. It skips values
// that are not finite. In a run in which the service failed, the rates of responses are 0, all requests failed, and no
// other metric has a value.
func tableOf(r *results.Results) *table {
	t := &table{blocks: blocksOf(r)}
	t.name(r)
	t.contrasts = t.contrastsOf(r)
	t.count(r)
	t.fails = failuresOf(r)
	paced := isPaced(r)
	unanswered := slices.ContainsFunc(r.Runs, func(run results.Run) bool { return measured(&run) && run.Unanswered() })
	for _, m := range results.MetricsOf(r.Runs) {
		if m.PerRequest && unanswered && !results.LackedBy(r.Runs, m.Name) {
			t.undivided = append(t.undivided, m.Name)
		}
		c := column{Name: m.Name, Unit: m.Unit, Better: m.Better, values: map[string][]Value{}}
		rate := m.Name == requestsPerSecond || m.Name == results.GoodAnswers
		if rate && paced {
			c.Better = results.Neither // the pace determines it
		}
		for i := range r.Runs {
			run := &r.Runs[i]
			if value, ok := m.Of(run); ok && measured(run) {
				c.add(run, value)
			} else if rate && run.ServiceFailed() {
				c.add(run, 0)
			} else if m.Name == results.FailedRequests && run.ServiceFailed() {
				c.add(run, 100)
			}
		}
		t.dropUnmeasured(&c)
		t.keep(c)
	}
	for _, c := range ownColumns(r) {
		t.keep(*c)
	}
	t.lead(r)
	return t
}

// alone reports whether there is one configuration, apart from its twin, and some run of it was measured.
func (t *table) alone() bool {
	return !slices.ContainsFunc(t.configurations, func(name string) bool { return name != t.baseline && name != t.again }) &&
		t.again != "" && slices.ContainsFunc(t.runs, func(r Runs) bool { return r.Counted > 0 })
}

// dropUnmeasured removes the configurations without a measured run from a column. There is nothing to compare with
// them; see unmeasured.
func (t *table) dropUnmeasured(c *column) {
	for _, r := range t.runs {
		if r.Counted == 0 {
			delete(c.values, r.Configuration)
		}
	}
}

// lead marks the leading metrics and moves those with a name to the front. They do not depend on a value. Without a load,
// as in benchmarks, the runs' own measures lead.
func (t *table) lead(r *results.Results) {
	names := r.Lead
	if len(names) == 0 && slices.ContainsFunc(r.Runs, func(run results.Run) bool { return run.Load != nil }) {
		names = results.DefaultLead()
	}
	rank := func(c column) int {
		if !c.named {
			return len(names)
		}
		return slices.Index(names, c.Name)
	}
	for i := range t.columns {
		c := &t.columns[i]
		c.named = slices.Contains(names, c.Name)
		c.leads = c.named || len(names) == 0 && c.own && c.Better != results.Neither
	}
	slices.SortStableFunc(t.columns, func(a, b column) int { return rank(a) - rank(b) })
}

// name finds the configurations and the baseline, which is the first one unless
// one is marked.
func (t *table) name(r *results.Results) {
	add := func(name string) {
		if !slices.Contains(t.configurations, name) {
			t.configurations = append(t.configurations, name)
		}
	}
	hasBaseline, hasTwin := false, false
	for _, c := range r.Configurations {
		add(c.Name)
		switch {
		case c.Again && !hasTwin:
			t.again, hasTwin = c.Name, true
		case c.Baseline && !hasBaseline:
			t.baseline, hasBaseline = c.Name, true
		}
	}
	for i := range r.Runs {
		add(r.Runs[i].Configuration)
	}
	for _, name := range t.configurations {
		if !hasBaseline && (name != t.again || !hasTwin) {
			t.baseline, hasBaseline = name, true
		}
	}
	if t.again == t.baseline {
		t.again = ""
	}
}

// count counts the runs of each configuration by their end.
func (t *table) count(r *results.Results) {
	for _, name := range t.configurations {
		n := Runs{Configuration: name, Outcomes: map[results.Outcome]int{}}
		for i := range r.Runs {
			run := &r.Runs[i]
			if run.Configuration != name {
				continue
			}
			n.All++
			n.Outcomes[run.Outcome]++
			if !measured(run) {
				n.FirstError = cmp.Or(n.FirstError, run.Error)
				continue
			}
			n.Counted++
			if run.Unanswered() {
				n.Unanswered = append(n.Unanswered, run.Number)
			}
			switch {
			case run.Load == nil || !run.Load.Saturated:
			case run.Load.MachineBusy():
				n.MachineBusy = append(n.MachineBusy, run.Number)
			default:
				n.Saturated = append(n.Saturated, run.Number)
			}
		}
		t.runs = append(t.runs, n)
	}
}

// The metrics that findings may be about.
const (
	requestsPerSecond = "requests per second"
	cpuPerRequest     = "CPU per request"
	latencyP99        = "latency p99"
	peakMemory        = "memory, peak"
	linesLost         = "log lines lost"
)

// isPaced reports whether all loads are open loops.
func isPaced(r *results.Results) bool {
	loads := false
	for i := range r.Runs {
		if l := r.Runs[i].Load; l != nil {
			loads = true
			if l.LatencyFromDue == nil {
				return false
			}
		}
	}
	return loads
}

// ownColumns returns the runs' own measures, in the order of their first
// occurrence. If a run has a measure twice, the first one counts.
func ownColumns(r *results.Results) []*column {
	type name struct{ name, unit string }
	var all []*column
	known := map[name]*column{}
	for i := range r.Runs {
		run := &r.Runs[i]
		if !measured(run) {
			continue
		}
		seen := map[name]bool{}
		for _, m := range run.Own {
			key := name{m.Name, m.Unit}
			if seen[key] {
				continue
			}
			seen[key] = true
			c := known[key]
			if c == nil {
				c = &column{Name: m.Name, Unit: m.Unit, Better: m.Better, own: true, values: map[string][]Value{}}
				known[key] = c
				all = append(all, c)
			}
			c.add(run, m.Value)
		}
	}
	return all
}

func (c *column) add(run *results.Run, value float64) {
	if math.IsNaN(value) || math.Abs(value) > absurd {
		return
	}
	c.values[run.Configuration] = append(c.values[run.Configuration], Value{Run: run.Number, Value: value})
}

// varies reports whether a column is informative. An own measure that is the
// same everywhere, such as no lost line, is not. The lab's own measurements
// always vary.
func (c *column) varies(others ...*column) bool {
	var samples [][]Value
	for _, each := range append(others, c) {
		for _, values := range each.values {
			samples = append(samples, values)
		}
	}
	return !c.own || vary(samples...)
}

// keep marks the outliers of a column and adds it, if it has values.
func (t *table) keep(c column) {
	if len(c.values) == 0 {
		return
	}
	for _, values := range c.values {
		markOutliers(values)
	}
	t.columns = append(t.columns, c)
}
