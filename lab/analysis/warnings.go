package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// maxLabCPU is the largest acceptable share of one CPU for the lab itself.
const maxLabCPU = 0.01

// unlikely is the limit of p for the two warnings that are based on a test: that
// the baseline differs from its twin, and that the machine drifted. A false
// warning counts as a false sentence of a page.
const unlikely = 0.0025

// warnings returns sentences that limit the validity of the findings.
func warnings(r *results.Results, t *table, a *Analysis) []string {
	var all []string
	if r.Interrupted {
		all = append(all, "The experiment was ended before all of its runs were made.")
	}
	all = append(all, missingParts(r)...)
	all = append(all, notMeasured(r, t, a)...)
	all = append(all, undivided(t)...)
	all = append(all, unlikeItself(a)...)
	all = append(all, few(t, a)...)
	all = append(all, failures(t)...)
	all = append(all, saturated(t)...)
	all = append(all, drift(t, a)...)
	all = append(all, outliers(a)...)
	if r.LabCPU > maxLabCPU {
		all = append(all, fmt.Sprintf("The lab itself took %s of a CPU while it measured, more than the limit of %s: "+
			"the service could not use it.",
			percent(r.LabCPU), percent(maxLabCPU)))
	}
	return all
}

// notMeasured names leading metrics that no run has, except those of missingParts.
func notMeasured(r *results.Results, t *table, a *Analysis) []string {
	var missing []string
	for _, name := range r.Lead {
		if a.Metric(name) == nil && !slices.Contains(t.undivided, name) && !results.LackedBy(r.Runs, name) {
			missing = append(missing, fmt.Sprintf("%q", name))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The experiment is about %s, which no run has: lead names a metric as the tables do.",
		listed(missing, 6))}
}

// undivided names the metrics that are left out because they are divided by the
// responses.
func undivided(t *table) []string {
	f := t.among(func(r Runs) (int, int) { return len(r.Unanswered), r.Counted })
	if f.runs == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s more than 1%% of the requests had no response. The service worked for them, too, "+
		"so such a run has no %s.", f, strings.Join(t.undivided, ", no "))}
}

// unlikeItself warns of a baseline that differs from its twin. The p of all
// leading metrics are corrected together.
func unlikeItself(a *Analysis) []string {
	var tested []*Difference
	var metrics []*Metric
	for i := range a.Metrics {
		m := &a.Metrics[i]
		if m.Leads && m.Noise != nil && vary(m.Row(a.Baseline).Values, m.Row(a.Again).Values) {
			tested, metrics = append(tested, &Difference{P: m.Noise.P}), append(metrics, m)
		}
	}
	correct(tested)
	var differ []string
	for i, m := range metrics {
		if *tested[i].Corrected <= unlikely && m.Noise.Ratio != nil {
			differ = append(differ, fmt.Sprintf("%s by %s", m.Name, percent(math.Abs(*m.Noise.Ratio-1))))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The baseline seems to differ from itself in %s. Chance does that in one experiment "+
		"of %.0f (%s); otherwise something on this machine affects the measurements.",
		listed(differ, 6), 1/unlikely, readable.Things(int64(len(tested)), "metric")+" tested")}
}

// few warns if there was nothing to compare, or if there are no intervals. Too
// few runs for verdicts are a finding.
func few(t *table, a *Analysis) []string {
	counted, with := math.MaxInt, 0
	for _, r := range t.runs {
		if r.Counted > 0 {
			counted, with = min(counted, r.Counted), with+1
		}
	}
	if with == 0 {
		return nil
	}
	if t.alone() {
		return nil // a finding says it
	}
	if len(allCompared(a)) == 0 {
		return []string{"Nothing was compared: " + t.whyNotCompared() + "."}
	}
	const forInterval = 6 // for 95%; with fewer, all runs are on one side of the true median too often
	if a.Family != nil && counted >= a.Family.NeededRuns && counted < forInterval {
		return []string{fmt.Sprintf("The runs are enough to compare configurations, but a 95%% interval of a median "+
			"needs %d.", forInterval)}
	}
	return nil
}

// whyNotCompared returns the reason why nothing was compared although runs were
// measured.
func (t *table) whyNotCompared() string {
	baseline, others := false, 0
	for _, r := range t.runs {
		switch {
		case r.Counted == 0 || r.Configuration == t.again:
		case r.Configuration == t.baseline:
			baseline = true
		default:
			others++
		}
	}
	switch {
	case !baseline:
		return "no run of the baseline, " + t.baseline + ", was measured"
	case others == 0:
		return "only runs of the baseline were measured"
	}
	return "there is no measure that both the baseline and another configuration have"
}

// failures warns of runs that do not count, and of counted runs that did not
// end well. Configurations without any counted run are a finding.
func failures(t *table) []string {
	var all []string
	for _, o := range outcomes {
		f := t.among(func(r Runs) (int, int) { return r.Outcomes[o.outcome] * min(1, r.Counted), r.All })
		if f.runs > 0 {
			counts := "; compared are the runs that were measured"
			if o.outcome != results.Failed {
				counts = "; such a run counts with 0 responses per second"
			}
			all = append(all, fmt.Sprintf("%s %s%s.", f, o.long, counts))
		}
	}
	if f := t.among(func(r Runs) (int, int) { return r.Outcomes[results.Leaked], r.All }); f.runs > 0 {
		all = append(all,
			fmt.Sprintf("%s the service left processes behind or did not end; they had been measured, and count.", f))
	}
	return all
}

// saturated warns of load generators that were at their limit, and of those
// that waited for the machine.
func saturated(t *table) []string {
	var all []string
	if f := t.among(func(r Runs) (int, int) { return len(r.Saturated), r.Counted }); f.runs > 0 {
		all = append(all, fmt.Sprintf("%s the load generator was at its own limit; the service may be able to do "+
			"more than was measured.", f))
	}
	if f := t.among(func(r Runs) (int, int) { return len(r.MachineBusy), r.Counted }); f.runs > 0 {
		all = append(all,
			fmt.Sprintf("%s the machine was busy: the load generator waited for a CPU, and latencies include that.", f))
	}
	return all
}

// A some counts the runs for which something is true, and all runs of the
// configurations that have such a run.
type some struct {
	runs, of       int
	names          []string
	configurations int // in all
}

// among counts runs by configuration: n of those for which something is true,
// and of all.
func (t *table) among(count func(Runs) (n, of int)) some {
	var s some
	for _, r := range t.runs {
		n, of := count(r)
		if of > 0 {
			s.configurations++
		}
		if n > 0 {
			s.runs, s.of, s.names = s.runs+n, s.of+of, append(s.names, r.Configuration)
		}
	}
	return s
}

// String returns the beginning of a sentence: "In 3 of 18 runs of 6
// configurations (a, b, c and 3 more)".
func (s some) String() string {
	text := fmt.Sprintf("In %d of %s of ", s.runs, readable.Things(int64(s.of), "run"))
	switch n := len(s.names); {
	case n == 1:
		return text + s.names[0]
	case n == s.configurations:
		return text + fmt.Sprintf("all %d configurations", n)
	case n <= maxNamed:
		return text + readable.Enumerate(s.names)
	default:
		return text + fmt.Sprintf("%d configurations (%s)", n, listed(s.names, maxNamed))
	}
}

// drift warns if the baseline and its twin rise or fall with time.
func drift(t *table, a *Analysis) []string {
	for _, c := range t.columns {
		if !c.leads || c.own {
			continue
		}
		values := append(slices.Clone(c.values[t.baseline]), c.values[t.again]...)
		slices.SortStableFunc(values, func(a, b Value) int { return a.Run - b.Run })
		p, rises := trend(numbers(values))
		if p > unlikely {
			continue
		}
		way := "falls"
		if rises {
			way = "rises"
		}
		return []string{fmt.Sprintf("%s of the baseline %s from run to run (p %.2g): the machine drifted. The order "+
			"of the runs spreads that over all configurations; "+
			"it makes the noise larger.", capital(c.Name), way, p)}
	}
	return nil
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// outliers names the runs that are far from the others of their configuration
// in a leading metric.
func outliers(a *Analysis) []string {
	var all []string
	for i := range a.Metrics {
		m := &a.Metrics[i]
		if !m.Leads || m.Own {
			continue
		}
		var runs []string
		for _, row := range m.Rows {
			for _, v := range row.Values {
				if v.Outlier {
					runs = append(runs, fmt.Sprintf("%d (%s, %s)", v.Run, row.Configuration, Quantity(v.Value, m.Unit)))
				}
			}
		}
		if len(runs) > 0 {
			all = append(all, fmt.Sprintf("In %s, these runs are far from the others of their configuration: %s. "+
				"They are shown, and count.", m.Name, listed(runs, 6)))
		}
	}
	return all
}
