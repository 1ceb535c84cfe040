package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
)

// An arrangement tests a pairing by permuting labels within its blocks: if the configuration is the baseline, each of the two or
// three runs of a block is equally often the configuration's. So the test holds on a machine that becomes slower from
// block to block, and with any distribution.
//
// The statistic is the larger of two, each divided by its standard deviation over the permutations:
//
//   - the rank sum of Mann and Whitney, with the ranks of all runs of both;
//   - the sum of aligned ranks (Hodges and Lehmann, Rank methods for combination of independent experiments in analysis
//     of variance, Annals of Mathematical Statistics 33, 1962), with the ranks of the values less the median of their
//     block.
//
// The first one is better if blocks do not differ, the second one if they do. Equal values have the same rank, the mean
// of theirs, which the permutations take into account.
type arrangement struct {
	blocks   []arrangedBlock
	observed sums
	weights  [2]float64 // 1 over the standard deviations of the sums, or 0 if a sum is always the same
}

// An arrangedBlock has the scores of the runs of a block. The first one is the configuration's.
type arrangedBlock struct {
	scores [3]sums
	runs   int // 2 or 3
}

// sums are the two rank sums, in one number, so that one addition adds both.
type sums int64

func sumsOf(a, b int) sums { return sums(a)<<32 + sums(b) }

func (s sums) split() (a, b float64) {
	low := int32(s) // the lower half
	return float64((s - sums(low)) >> 32), float64(low)
}

// of returns the statistic of two sums.
func (a *arrangement) of(s sums) float64 {
	x, y := s.split()
	return max(math.Abs(x)*a.weights[0], math.Abs(y)*a.weights[1])
}

// direction is positive if the configuration has the larger values.
func (a *arrangement) direction() float64 {
	x, y := a.observed.split()
	return x*a.weights[0] + y*a.weights[1]
}

// arrange returns the arrangement of the values if those of the configuration are divided by the ratio.
func (p *pairing) arrange(ratio float64) *arrangement {
	const most = 3
	all := make([]float64, 0, most*len(p.blocks))
	aligned := make([]float64, 0, most*len(p.blocks))
	for i := range p.blocks {
		b := &p.blocks[i]
		value := b.value / ratio
		middle := b.medianWith(value)
		all, aligned = append(all, value), append(aligned, value-middle)
		for _, v := range b.base {
			all, aligned = append(all, v), append(aligned, v-middle)
		}
	}
	ranks := [2][]int{doubledRanks(all), doubledRanks(aligned)}
	a := &arrangement{blocks: make([]arrangedBlock, len(p.blocks))}
	var variances [2]float64
	for i, at := 0, 0; i < len(p.blocks); i++ {
		b := &a.blocks[i]
		b.runs = 1 + len(p.blocks[i].base)
		var scores [2][most]int
		for k, of := range ranks {
			sum := 0
			for _, r := range of[at : at+b.runs] {
				sum += r
			}
			for j, r := range of[at : at+b.runs] {
				s := b.runs*r - sum // the distance from the block's mean rank, without a fraction
				s *= 6 / b.runs
				scores[k][j] = s
				variances[k] += float64(s*s) / float64(b.runs)
			}
		}
		for j := range b.runs {
			b.scores[j] = sumsOf(scores[0][j], scores[1][j])
		}
		a.observed += b.scores[0]
		at += b.runs
	}
	for k, v := range variances {
		if v > 0 {
			a.weights[k] = 1 / math.Sqrt(v)
		}
	}
	return a
}

// doubledRanks returns twice the rank of each value, from 2. Equal values have the mean of their ranks.
func doubledRanks(values []float64) []int {
	type place struct {
		value float64
		index int
	}
	order := make([]place, len(values))
	for i, v := range values {
		order[i] = place{v, i}
	}
	slices.SortFunc(order, func(a, b place) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	ranks := make([]int, len(values))
	for low := 0; low < len(order); {
		high := low + 1
		for high < len(order) && order[high].value == order[low].value {
			high++
		}
		for _, p := range order[low:high] {
			ranks[p.index] = low + high + 1
		}
		low = high
	}
	return ranks
}

// draws is the number of permutations that are drawn at random where there are too many to make all. Those of nine
// blocks with both copies of the baseline are all made. The seed is constant, so that equal results have equal sentences.
// A bound of an interval takes many tests, and each of them has intervalDraws.
const (
	draws         = 20_000
	intervalDraws = 4_000
)

// rounding makes a statistic that is equal but for rounding count as equal.
const rounding = 1 - 1e-9

// p returns the share of the permutations with a statistic that is not smaller than the observed one. It makes all of them, or
// that many draws.
func (a *arrangement) p(draws int) float64 {
	limit := a.of(a.observed) * rounding
	if limit == 0 {
		return 1
	}
	tables := a.tables()
	permutations := 1.0
	for _, t := range tables {
		permutations *= float64(len(t))
	}
	if permutations <= float64(draws) {
		return float64(a.atLeast(limit, tables, 0)) / permutations
	}
	random := rand.New(rand.NewPCG(1, 0))
	count := 1 // the observed one
	for range draws - 1 {
		var s sums
		for _, t := range tables {
			s += t[uint64(random.Uint32())*uint64(len(t))>>32]
		}
		if a.of(s) >= limit {
			count++
		}
	}
	return float64(count) / float64(draws)
}

// tables has the sums of all permutations of a few blocks each. A permutation of all blocks is one element of each.
func (a *arrangement) tables() [][]sums {
	const most = 243 // five blocks of three runs
	var all [][]sums
	table := []sums{0}
	for _, b := range a.blocks {
		if len(table)*b.runs > most {
			all, table = append(all, table), []sums{0}
		}
		next := make([]sums, 0, len(table)*b.runs)
		for _, s := range table {
			for _, score := range b.scores[:b.runs] {
				next = append(next, s+score)
			}
		}
		table = next
	}
	return append(all, table)
}

// atLeast counts the permutations of the tables with a statistic of at least limit, if the others sum to s.
func (a *arrangement) atLeast(limit float64, tables [][]sums, s sums) (count int) {
	for _, each := range tables[0] {
		switch {
		case len(tables) > 1:
			count += a.atLeast(limit, tables[1:], s+each)
		case a.of(s+each) >= limit:
			count++
		}
	}
	return count
}
