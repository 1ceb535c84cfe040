package analysis

import (
	"slices"

	"github.com/weirhq/weir/lab/results"
)

// Of analyses results. It does not change them.
func Of(r *results.Results) *Analysis {
	t := tableOf(r)
	a := &Analysis{Runs: t.runs}
	a.Baseline, a.Again = t.baseline, t.again
	for _, c := range t.columns {
		a.Metrics = append(a.Metrics, metricOf(t, c))
	}
	judge(t, a)
	a.Findings = findings(t, a)
	a.Warnings = warnings(r, t, a)
	return a
}

// metricOf compares the configurations in one metric, without a verdict.
func metricOf(t *table, c column) Metric {
	m := Metric{Name: c.Name, Unit: c.Unit, Better: c.Better, Own: c.own, Leads: c.leads && c.varies(), named: c.named}
	base, hasBase := c.values[t.baseline]
	for _, configuration := range t.configurations {
		values := c.values[configuration]
		if len(values) == 0 {
			continue
		}
		row := Row{Configuration: configuration, Summary: summary(values)}
		if hasBase && configuration != t.baseline {
			row.Versus = difference(base, values)
		}
		m.Rows = append(m.Rows, row)
	}
	if twin := row(m.Rows, t.again); twin != nil && twin.Versus != nil {
		m.Noise = twin.Versus
		m.Noise.Why = "the baseline against itself"
	}
	return m
}

// judge corrects the p of all comparisons and sets the verdicts.
func judge(t *table, a *Analysis) {
	other := slices.ContainsFunc(a.Metrics, func(m Metric) bool { return m.Leads && (!m.Own || m.named) })
	var trials []trial
	spends := withTwin
	for i := range a.Metrics {
		m := &a.Metrics[i]
		m.first = m.Leads && (!m.Own || m.named || !other)
		c := t.column(m)
		base, twin := c.values[t.baseline], c.values[t.again]
		for _, j := range compared(a, m) {
			values := c.values[j.row.Configuration]
			trials = append(trials, trial{m.Name, m.Better, m.first, j.row.Versus, base, values,
				withinNoise(base, twin, values)})
			if len(twin) == 0 {
				spends = withoutTwin
			}
		}
	}
	a.Families = judgeAll(trials, spends)
	for _, j := range allCompared(a) {
		j.row.Versus.withhold(t.fails[j.row.Configuration].more(t.fails[t.baseline]))
	}
}
