package analysis

import (
	"math"

	"github.com/weirhq/weir/lab/results"
)

// contrastsOf returns the contrasts of results: by default, each configuration is compared with the baseline.
func (t *table) contrastsOf(r *results.Results) []results.Contrast {
	if r.Contrasts != nil {
		return r.Contrasts
	}
	var all []results.Contrast
	for _, name := range t.configurations {
		if name != t.baseline && name != t.again {
			all = append(all, results.Contrast{Configuration: name, Against: t.baseline})
		}
	}
	return all
}

// answer compares the configurations of a contrast that is not against the baseline. It returns nil if no block has all of
// them, or if an interaction has a value that is not positive.
func (g *grid) answer(c results.Contrast) (*Difference, inBlocks) {
	name, against := c.Configuration, c.Against
	if c.Than != nil {
		name, against = c.String(), c.Than.String()
		g = g.interaction(c)
	}
	if len(g.pair(name, against).blocks) == 0 {
		return nil, inBlocks{}
	}
	d, contest := g.compare(name, against)
	return d, inBlocks{contest, g.present(against), g.present(name)}
}

// interaction returns the grid of two products, called as the differences of an interaction. If the ratio a/b is equal to
// the ratio c/d but for noise, a·d and b·c are values of the same distribution, and each of them belongs to either
// difference equally often.
func (g *grid) interaction(c results.Contrast) *grid {
	a, b, than, base := g.values[c.Configuration], g.values[c.Against], g.values[c.Than.Configuration],
		g.values[c.Than.Against]
	products := &grid{values: map[string][]float64{}}
	if a == nil || b == nil || than == nil || base == nil {
		return products
	}
	for i := range g.blocks {
		x, y := a[i]*base[i], b[i]*than[i]
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			continue
		case x <= 0 || y <= 0 || !finite(x) || !finite(y):
			return &grid{}
		}
		products.blocks++
		products.values[c.String()] = append(products.values[c.String()], x)
		products.values[c.Than.String()] = append(products.values[c.Than.String()], y)
	}
	return products
}

// present returns the values of a configuration, without numbers of runs.
func (g *grid) present(name string) (values []Value) {
	for _, v := range g.values[name] {
		if !math.IsNaN(v) {
			values = append(values, Value{Value: v})
		}
	}
	return values
}
