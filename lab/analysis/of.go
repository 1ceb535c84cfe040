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
	var contests []map[string]contest // by metric and configuration
	for _, c := range t.columns {
		m, of := metricOf(t, c)
		a.Metrics, contests = append(a.Metrics, m), append(contests, of)
	}
	judge(t, a, contests)
	a.Findings = findings(t, a)
	a.Warnings = warnings(r, t, a)
	return a
}

// metricOf compares the configurations in one metric, without a verdict. It also returns their tests.
func metricOf(t *table, c column) (Metric, map[string]contest) {
	m := Metric{Name: c.Name, Unit: c.Unit, Better: c.Better, Own: c.own, Leads: c.leads && c.varies(), named: c.named}
	contests := map[string]contest{}
	_, hasBase := c.values[t.baseline]
	g := gridOf(c.values, t.blocks)
	for _, configuration := range t.configurations {
		values := c.values[configuration]
		if len(values) == 0 {
			continue
		}
		row := Row{Configuration: configuration, Summary: summary(values)}
		switch {
		case !hasBase || configuration == t.baseline:
		case configuration == t.again:
			row.Versus, _ = g.compare(configuration, t.baseline)
		default:
			row.Versus, contests[configuration] = g.compare(configuration, t.baseline, t.again)
		}
		m.Rows = append(m.Rows, row)
	}
	if twin := row(m.Rows, t.again); twin != nil && twin.Versus != nil {
		m.Noise = twin.Versus
		m.Noise.Why = "the baseline against itself"
	}
	return m, contests
}

// judge corrects the p of all comparisons and sets the verdicts.
func judge(t *table, a *Analysis, contests []map[string]contest) {
	other := slices.ContainsFunc(a.Metrics, func(m Metric) bool { return m.Leads && (!m.Own || m.named) })
	var trials []trial
	for i := range a.Metrics {
		m := &a.Metrics[i]
		m.first = m.Leads && (!m.Own || m.named || !other)
		c := t.column(m)
		base := slices.Concat(c.values[t.baseline], c.values[t.again])
		for _, j := range compared(a, m) {
			trials = append(trials, trial{metric: m.Name, better: m.Better, first: m.first, versus: j.row.Versus,
				change: j.row.Median - j.base.Median,
				test:   inBlocks{contests[i][j.row.Configuration], base, c.values[j.row.Configuration]}})
		}
	}
	a.Families = judgeAll(trials, inTurn)
	for _, j := range allCompared(a) {
		j.row.Versus.withhold(t.fails[j.row.Configuration].more(t.fails[t.baseline]))
	}
}
