package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab"
)

// mostLabCPU is what the lab itself may take of one CPU.
const mostLabCPU = 0.01

// unlikely is the p below which a trend is told of: it is a warning, and one in
// twenty would be too many.
const unlikely = 0.01

// warnings says what a reader has to know before believing the findings.
func warnings(r *lab.Results, t *table, a *Analysis) []string {
	var all []string
	if r.Interrupted {
		all = append(all, "The experiment was ended before all of its runs were made.")
	}
	all = append(all, unlikeItself(a)...)
	all = append(all, few(t, a)...)
	all = append(all, failures(t)...)
	all = append(all, saturated(t)...)
	all = append(all, drift(t, a)...)
	all = append(all, outliers(a)...)
	if r.LabCPU > mostLabCPU {
		all = append(all, fmt.Sprintf("The lab itself took %s of a CPU while it measured, more than the %s that it should: what it takes, the service lacks.",
			percent(r.LabCPU), percent(mostLabCPU)))
	}
	return all
}

// unlikeItself tells where the baseline differs from its twin.
func unlikeItself(a *Analysis) []string {
	var differ []string
	tested := 0
	for i := range a.Metrics {
		m := &a.Metrics[i]
		if !m.Leads || m.Noise == nil {
			continue
		}
		tested++
		if *m.Noise.P <= alpha && m.Noise.Ratio != nil {
			differ = append(differ, fmt.Sprintf("%s by %s", m.Name, percent(math.Abs(*m.Noise.Ratio-1))))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The baseline seems to differ from itself in %s. Chance makes that of one metric in 20, and %s tested; "+
		"else something on this machine changes what is measured. Differences up to that size are taken for noise.", listed(differ), wereTested(tested))}
}

func wereTested(n int) string {
	if n == 1 {
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}

// few tells when runs are too few for a verdict or an interval.
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
	family := 0
	for _, f := range families(a) {
		differ := slices.DeleteFunc(slices.Clone(f), func(j judged) bool { return !j.canDiffer() })
		family = max(family, len(differ), min(1, len(f)))
	}
	if family == 0 {
		if with > 1 && a.Again != "" {
			return []string{"The baseline was compared with nothing but itself."}
		}
		return []string{"There are runs of one configuration alone, or none of the baseline: nothing was compared."}
	}
	var all []string
	if need := neededRuns(family); counted < need {
		all = append(all, fmt.Sprintf("Too few runs: a configuration has %d. For a difference to be told from chance (p at most 0.05, corrected for %s) each needs at least %d.",
			counted, readable.Things(int64(family), "comparison"), need))
	}
	const forInterval = 6 // of 95%: with fewer, all runs are on one side of the true median too often
	if counted < forInterval {
		all = append(all, fmt.Sprintf("A 95%% interval of the median needs %d runs.", forInterval))
	}
	return all
}

// failures tells of configurations of which some runs do not count.
func failures(t *table) []string {
	var all []string
	for _, r := range t.runs {
		if r.Counted < r.All {
			all = append(all, fmt.Sprintf("%s: %s; compared are the %d that were measured.", r.Configuration, ended(r), r.Counted))
		}
		if n := r.Outcomes[lab.Leaked]; n > 0 {
			all = append(all, fmt.Sprintf("%s: in %d of %s the service left processes behind or would not end; they were measured before, and count.",
				r.Configuration, n, readable.Things(int64(r.All), "run")))
		}
	}
	return all
}

// saturated tells where the load generator was at its limit.
func saturated(t *table) []string {
	var where []string
	n, all := 0, 0
	for _, r := range t.runs {
		all += r.Counted
		if len(r.Saturated) > 0 {
			n += len(r.Saturated)
			where = append(where, fmt.Sprintf("%d of %d of %s", len(r.Saturated), r.Counted, r.Configuration))
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("In %d of %s the load generator was at its own limit (%s); what the service can do may be more than what was measured.",
		n, readable.Things(int64(all), "run"), listed(where))}
}

// drift tells when the baseline and its twin, which are the same, rise or fall
// with time.
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
		return []string{fmt.Sprintf("%s of the baseline %s from run to run (p %.2g): the machine drifted. The order of the runs spreads that over all configurations; "+
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

// outliers names the runs that are far from the others of their configuration in
// a metric that leads.
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
			all = append(all, fmt.Sprintf("In %s, these runs are far from the others of their configuration: %s. They are shown, and count.", m.Name, listed(runs)))
		}
	}
	return all
}
