package analysis

import (
	"math"
	"slices"

	"github.com/weirhq/weir/lab/results"
)

// blocksOf returns the block of each run, by the number of the run. A block has one run of each configuration, made one
// after the other in random order, and is a repeat. If a configuration has two runs of a repeat, the first runs of all
// configurations are a block, the second ones, and so on.
func blocksOf(r *results.Results) map[int]int {
	type place struct {
		configuration string
		repeat        int
	}
	repeats, ordinals := map[int]int{}, map[int]int{}
	seen, counts := map[place]bool{}, map[string]int{}
	once := true
	for i := range r.Runs {
		run := &r.Runs[i]
		at := place{run.Configuration, run.Repeat}
		once = once && !seen[at]
		seen[at] = true
		counts[run.Configuration]++
		repeats[run.Number], ordinals[run.Number] = run.Repeat, counts[run.Configuration]
	}
	if once {
		return repeats
	}
	return ordinals
}

// A grid has the values of one metric by configuration and block. A missing value is NaN.
type grid struct {
	blocks int
	values map[string][]float64
}

// gridOf arranges values by the block of their run. Block has it by the run's number.
func gridOf(values map[string][]Value, block map[int]int) grid {
	var numbers []int
	for _, of := range values {
		for _, v := range of {
			numbers = append(numbers, block[v.Run])
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	g := grid{blocks: len(numbers), values: map[string][]float64{}}
	for name, of := range values {
		cells := slices.Repeat([]float64{math.NaN()}, len(numbers))
		for _, v := range of {
			i, _ := slices.BinarySearch(numbers, block[v.Run])
			cells[i] = v.Value
		}
		g.values[name] = cells
	}
	return g
}

// A pairing has the values of a configuration and of the baseline in the blocks that have both.
type pairing struct {
	blocks []pairedBlock
}

// A pairedBlock is one block of a pairing.
type pairedBlock struct {
	index  int       // of the block in its grid
	value  float64   // of the configuration
	base   []float64 // of the baseline and its twin: one value, or two
	others []float64 // all values of the block without the configuration's, sorted
}

// pair returns the pairing of a configuration. The runs of all bases are runs of the baseline.
func (g *grid) pair(name string, bases ...string) *pairing {
	p := &pairing{}
	for i := range g.blocks {
		at := func(name string) (v float64, ok bool) {
			if cells := g.values[name]; cells != nil && !math.IsNaN(cells[i]) {
				return cells[i], true
			}
			return 0, false
		}
		value, ok := at(name)
		b := pairedBlock{index: i, value: value}
		for _, base := range bases {
			if v, ok := at(base); ok {
				b.base = append(b.base, v)
			}
		}
		if !ok || len(b.base) == 0 {
			continue
		}
		for other := range g.values {
			if v, ok := at(other); ok && other != name {
				b.others = append(b.others, v)
			}
		}
		slices.Sort(b.others)
		p.blocks = append(p.blocks, b)
	}
	return p
}

// medianWith returns the median of the block if the configuration's value were v.
func (b *pairedBlock) medianWith(v float64) float64 {
	n := len(b.others)
	at := func(i int) float64 { // element i of the sorted values with v
		switch {
		case i > 0 && v <= b.others[i-1]:
			return b.others[i-1]
		case i < n && v >= b.others[i]:
			return b.others[i]
		}
		return v
	}
	return at(n/2)/2 + at((n+1)/2)/2
}
