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
	var trials []trial
	for _, c := range t.columns {
		m, of := metricOf(t, c)
		a.Metrics, trials = append(a.Metrics, m), append(trials, of...)
	}
	a.Family = judgeAll(trials, inTurn)
	for _, j := range allCompared(a) {
		if j.than == nil {
			j.versus.withhold(t.fails[j.row.Configuration].more(t.fails[j.base.Configuration]))
		}
	}
	a.Findings = findings(t, a)
	if sentence := StillWarming(r.Runs); sentence != "" {
		a.Findings = append([]Finding{{Text: sentence}}, a.Findings...)
	}
	a.Warnings = warnings(r, t, a)
	return a
}

// metricOf compares the configurations in one metric, without a verdict. It also returns the trials, if the metric leads.
func metricOf(t *table, c column) (Metric, []trial) {
	m := Metric{Name: c.Name, Unit: c.Unit, Better: c.Better, Own: c.own, Leads: c.leads && c.varies(), named: c.named,
		constant: c.leads && !c.varies()}
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
			row.tested = m.Leads && slices.Contains(t.contrasts,
				results.Contrast{Configuration: configuration, Against: t.baseline})
		}
		m.Rows = append(m.Rows, row)
	}
	if twin := row(m.Rows, t.again); twin != nil && twin.Versus != nil {
		m.Noise = twin.Versus
		m.Noise.Why = "the baseline against itself"
	}
	return m, m.trials(t, c, &g, contests)
}

// trials returns the trials of a metric, and adds its answers. All other differences from the baseline are descriptions.
func (m *Metric) trials(t *table, c column, g *grid, contests map[string]contest) (all []trial) {
	base := slices.Concat(c.values[t.baseline], c.values[t.again])
	for i := range m.Rows {
		row := &m.Rows[i]
		switch {
		case row.Versus == nil || row.Configuration == t.again:
		case row.tested:
			all = append(all, trial{metric: m.Name, better: m.Better, versus: row.Versus,
				change: row.Median - m.Row(t.baseline).Median,
				test:   inBlocks{contests[row.Configuration], base, row.Values}})
		case m.Leads:
			row.Versus.notTested(notAsked, base, row.Values)
		default:
			row.Versus.notTested(doesNotLead, base, row.Values)
		}
	}
	for _, contrast := range t.contrasts {
		if !m.Leads || contrast.Than == nil && contrast.Against == t.baseline {
			continue
		}
		d, test := g.answer(contrast)
		if d == nil {
			continue
		}
		m.Answers = append(m.Answers, Answer{contrast, d})
		all = append(all, trial{metric: m.Name, better: m.Better, versus: d, interaction: contrast.Than != nil,
			change: median(test.values) - median(test.base), test: test})
	}
	return all
}
