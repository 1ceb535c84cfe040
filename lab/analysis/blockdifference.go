package analysis

import (
	"math"
	"slices"
)

// compare compares a configuration with the baseline in one metric, block by block. The runs of all bases are runs of
// the baseline. It sets no verdict.
func (g *grid) compare(name string, bases ...string) (*Difference, contest) {
	p := g.pair(name, bases...)
	c := p.contest(name, bases[0])
	share := c.p(draws)
	d := &Difference{P: &share}
	var values, base []float64
	for i, v := range g.values[name] {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
		for _, b := range bases {
			if of := g.values[b]; of != nil && !math.IsNaN(of[i]) {
				base = append(base, of[i])
			}
		}
	}
	if ratio := ratioOf(middleOf(values), middleOf(base)); finite(ratio) {
		if len(p.blocks) > 0 && slices.Min(values) > 0 && slices.Min(base) > 0 {
			ratio, d.Interval = p.ratio(ratio, share > alpha)
		}
		d.Ratio = &ratio
	}
	return d, c
}
