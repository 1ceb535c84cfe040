package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirhq/weir/lab/results"
)

// noisyGrid returns values of configurations around 100: "base", its twin "again", and x0, x1 and so on, which have
// these means.
func noisyGrid(random *rand.Rand, blocks int, noise float64, means ...float64) grid {
	g := grid{blocks, map[string][]float64{}}
	names, of := []string{"base", "again"}, []float64{100, 100}
	for i, mean := range means {
		names, of = append(names, fmt.Sprint("x", i)), append(of, mean)
	}
	for i, name := range names {
		for range blocks {
			g.values[name] = append(g.values[name], of[i]*(1+noise*random.NormFloat64()))
		}
	}
	return g
}

func TestEqualValuesHaveTheMeanOfTheirRanks(t *testing.T) {
	got := doubledRanks([]float64{3, 1, 3, 2, 3, 1})
	if want := []int{10, 3, 10, 6, 10, 3}; !slices.Equal(got, want) {
		t.Errorf("twice the ranks are %v, want %v", got, want)
	}
}

// p is compared with another implementation, which moves values instead of sums. Some blocks lack a run, and some
// values are equal.
func TestPMatchesAnEnumerationOfLabels(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		g := noisyGrid(random, 5, 0.02, 97, 100)
		for _, of := range g.values {
			for i := range of {
				of[i] = math.Round(of[i])
			}
		}
		g.values["again"][1], g.values["base"][2] = math.NaN(), math.NaN()
		g.values["x0"][3] = math.NaN()
		p := g.pair("x0", "base", "again")
		if len(p.blocks) != 4 {
			t.Fatalf("%d blocks have both, want 4", len(p.blocks))
		}
		observed := plainSums(p)
		var all [][2]float64
		eachLabelling(p, 0, func() { all = append(all, plainSums(p)) })
		var deviation [2]float64
		for _, s := range all {
			deviation[0] += s[0] * s[0] / float64(len(all))
			deviation[1] += s[1] * s[1] / float64(len(all))
		}
		statistic := func(s [2]float64) (most float64) {
			for k, d := range deviation {
				if d > 1e-9 {
					most = max(most, math.Abs(s[k])/math.Sqrt(d))
				}
			}
			return most
		}
		count := 0
		for _, s := range all {
			if statistic(s) >= statistic(observed)-1e-9 {
				count++
			}
		}
		if want, got := float64(count)/float64(len(all)), p.arrange(1).p(draws); math.Abs(got-want) > 1e-9 {
			t.Fatalf("p is %v, want %v of %+v", got, want, p.blocks)
		}
	}
}

// plainSums returns the sum of the configuration's ranks minus its mean over the labels of each block, of the values and
// of the values less the median of their block.
func plainSums(p *pairing) (sums [2]float64) {
	var pools [2][]float64
	for _, b := range p.blocks {
		block := append(slices.Clone(b.others), b.value)
		slices.Sort(block)
		middle := (block[(len(block)-1)/2] + block[len(block)/2]) / 2
		for _, v := range append([]float64{b.value}, b.base...) {
			pools[0], pools[1] = append(pools[0], v), append(pools[1], v-middle)
		}
	}
	for k, pool := range pools {
		rank := func(v float64) (r float64) {
			for _, other := range pool {
				switch {
				case other < v:
					r++
				case other == v:
					r += 0.5
				}
			}
			return r
		}
		at := 0
		for _, b := range p.blocks {
			n := 1 + len(b.base)
			mean := 0.0
			for _, v := range pool[at : at+n] {
				mean += rank(v) / float64(n)
			}
			sums[k] += rank(pool[at]) - mean
			at += n
		}
	}
	return sums
}

// eachLabelling calls f with each choice of the configuration's run in the blocks from i on.
func eachLabelling(p *pairing, i int, f func()) {
	if i == len(p.blocks) {
		f()
		return
	}
	b := &p.blocks[i]
	eachLabelling(p, i+1, f)
	for j := range b.base {
		swap := func() {
			for k, v := range b.others { // the median of the block stays
				if v == b.base[j] {
					b.others[k] = b.value
					break
				}
			}
			slices.Sort(b.others)
			b.value, b.base[j] = b.base[j], b.value
		}
		swap()
		eachLabelling(p, i+1, f)
		swap()
	}
}

// The p of draws is that of all permutations, but for chance.
func TestDrawsAgreeWithAllPermutations(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	for range 3 {
		g := noisyGrid(random, 11, 0.02, 98)
		a := g.pair("x0", "base", "again").arrange(1)
		limit, tables := a.of(a.observed)*rounding, a.tables()
		exact := float64(a.atLeast(limit, tables, 0)) / math.Pow(3, 11)
		if got := a.p(draws); math.Abs(got-exact) > 5*math.Sqrt(exact/draws)+1.0/draws {
			t.Errorf("p is %v, of all permutations %v", got, exact)
		}
	}
}

// On a machine that becomes slower by half, blocks show a difference of 5% that the medians of the runs hide.
func TestBlocksRemoveDrift(t *testing.T) {
	g := noisyGrid(rand.New(rand.NewPCG(5, 1)), 10, 0.01, 95, 100)
	for _, of := range g.values {
		for i := range of {
			of[i] *= 1 - 0.05*float64(i)
		}
	}
	d, _ := g.compare("x0", "base", "again")
	if *d.P > 0.001 || math.Abs(*d.Ratio-0.95) > 0.01 || d.Interval == nil || d.Interval.High > 0.97 {
		t.Errorf("p %v, ratio %v, interval %+v; want a decrease of 5%%", *d.P, *d.Ratio, d.Interval)
	}
	if d, _ := g.compare("x1", "base", "again"); *d.P < 0.05 {
		t.Errorf("an equal configuration has p %v", *d.P)
	}
}

// The interval contains 1 exactly if the test finds no difference, and it scales with the values.
func TestBlockIntervalAgreesWithTheTest(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	differ := 0
	const times = 100
	for range times {
		g := noisyGrid(random, 4+random.IntN(4), 0.05, 100+8*random.Float64(), 100)
		d, _ := g.compare("x0", "base", "again")
		if d.Interval == nil {
			t.Fatalf("no interval of %+v", g)
		}
		outside := d.Interval.Low > 1 || d.Interval.High < 1
		if outside != (*d.P <= alpha) || *d.Ratio < d.Interval.Low || *d.Ratio > d.Interval.High {
			t.Fatalf("the ratio is %v, the interval %+v and p %v", *d.Ratio, *d.Interval, *d.P)
		}
		if outside {
			differ++
		}
		for _, of := range g.values {
			for i := range of {
				of[i] *= 8
			}
		}
		if larger, _ := g.compare("x0", "base", "again"); *larger.Interval != *d.Interval || *larger.P != *d.P {
			t.Fatalf("with values eight times as large, the interval is %+v and p %v, want %+v and %v", *larger.Interval,
				*larger.P, *d.Interval, *d.P)
		}
	}
	if differ < times/10 || differ > times*9/10 {
		t.Errorf("%d of %d differ: the test does not see both", differ, times)
	}
}

// The interval contains the true ratio as often as it promises.
func TestBlockIntervalCoversTheTrueRatio(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	const truth, times = 1.2, 300
	covered := 0
	for range times {
		g := noisyGrid(random, 6, 0.05, 100*truth, 100)
		if d, _ := g.compare("x0", "base", "again"); d.Interval.Low <= truth && truth <= d.Interval.High {
			covered++
		}
	}
	if share := float64(covered) / times; share < 0.92 || share > 0.985 {
		t.Errorf("the interval has the true ratio in %.1f%% of experiments, want about 95%%", 100*share)
	}
}

func TestBlockIntervalNeedsPositiveValuesAndFourBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1))
	zero := noisyGrid(random, 6, 0.01, 100)
	zero.values["x0"][2] = 0
	for name, g := range map[string]grid{"a value of 0": zero, "three blocks": noisyGrid(random, 3, 0.01, 200)} {
		if d, _ := g.compare("x0", "base", "again"); d.Interval != nil || d.Ratio == nil {
			t.Errorf("%s: the ratio is %v with the interval %+v, want no interval", name, d.Ratio, d.Interval)
		}
	}
}

// If some configurations differ, or scatter less, no more of the others are found to differ.
func TestCorrectionControlsErrorsBesideDifferences(t *testing.T) {
	Simulates(t)
	const experiments, blocks = 400, 6
	alarms := 0
	for seed := range uint64(experiments) {
		random := rand.New(rand.NewPCG(seed, 2))
		g := noisyGrid(random, blocks, 0.05, 100, 100, 100, 100, 103, 150, 60)
		for range blocks { // a quiet one
			g.values["x7"] = append(g.values["x7"], 100+random.NormFloat64()/100)
		}
		contests := contestsOf(g, []string{"base", "again"}, "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7")
		if slices.Min(correctedTogether(contests, 2000)[:4]) <= alpha {
			alarms++
		}
	}
	if alarms > experiments/12 { // 20, and three standard deviations
		t.Errorf("in %d of %d experiments an equal configuration differs, want about 5%%", alarms, experiments)
	}
}

// A family has contrasts with two and with three runs in a block, and an interaction. If both settings have effects that
// multiply, the interaction is not found; if nothing differs, nothing is. It is found if the effects do not multiply.
func TestSquaresAreSeldomFalse(t *testing.T) {
	Simulates(t)
	const experiments, blocks = 100, 8
	seldom := results.Contrast{Configuration: "x0", Against: "base"}
	contrast := results.Contrast{Configuration: "x2", Against: "x1", Than: &seldom}
	found := map[string]int{}
	for seed := range uint64(experiments) {
		for name, means := range map[string][]float64{"nothing": {100, 100, 100}, "effects": {150, 200, 300},
			"interaction": {150, 200, 250}} {
			g := noisyGrid(rand.New(rand.NewPCG(seed, 3)), blocks, 0.02, means...)
			contests := contestsOf(g, []string{"base", "again"}, "x0", "x1")
			contests = append(contests, contestsOf(g, []string{"x0"}, "x2")...)
			contests = append(contests, contestsOf(g, []string{"x1"}, "x2")...)
			contests = append(contests, contestsOf(*g.interaction(contrast), []string{seldom.String()},
				contrast.String())...)
			ps := correctedTogether(contests, 2000)
			if least := slices.Min(ps); name == "nothing" && least <= alpha || name != "nothing" && ps[4] <= alpha {
				found[name]++
			}
		}
	}
	t.Logf("of %d experiments: %v", experiments, found)
	if most := experiments/20 + 7; found["nothing"] > most || found["effects"] > most { // three standard deviations
		t.Errorf("of %d experiments: %v, want about %d of nothing and of effects", experiments, found, experiments/20)
	}
	if found["interaction"] < experiments*9/10 {
		t.Errorf("an interaction is found in %d of %d experiments", found["interaction"], experiments)
	}
}

// Two independent contests that are both as extreme as they can be have twice the p, less the chance of both.
func TestFewDifferentPAreCorrected(t *testing.T) {
	g := noisyGrid(rand.New(rand.NewPCG(1, 3)), 6, 0.001, 150, 300)
	contests := append(contestsOf(g, []string{"x0"}, "x1"), contestsOf(g, []string{"base"}, "x1")...)
	const each = 2.0 / 64
	for i, p := range correctedTogether(contests, draws) {
		if want := 1 - (1-each)*(1-each); contests[i].p(draws) != each || math.Abs(p-want) > 0.005 {
			t.Errorf("the p of contest %d is %v, corrected %v; want %v and %v", i, contests[i].p(draws), p, each, want)
		}
	}
}

// The correlation of the statistics over the permutations of a shuffle is that of equal configurations.
func TestShuffleKeepsTheCorrelationOfSharedRuns(t *testing.T) {
	for bases, want := range map[int]float64{1: 1.0 / 2, 2: 1.0 / 3} {
		random := rand.New(rand.NewPCG(7, 1))
		g := noisyGrid(random, 200, 0.05, 100, 100)
		contests := contestsOf(g, []string{"base", "again"}[:bases], "x0", "x1")
		s := newShuffle(contests)
		var xx, yy, xy float64
		for range 4000 {
			s.next()
			x, _ := s.sums(0, &contests[0]).split()
			y, _ := s.sums(1, &contests[1]).split()
			xx, yy, xy = xx+x*x, yy+y*y, xy+x*y
		}
		if got := xy / math.Sqrt(xx*yy); math.Abs(got-want) > 0.1 {
			t.Errorf("with %d runs of the baseline in a block, the correlation is %.3f, want %.3f", bases, got, want)
		}
	}
}

// A block is a repeat. Where a configuration has a repeat twice, blocks are made of the order of the runs.
func TestBlocksAreRepeats(t *testing.T) {
	r := &results.Results{}
	for i, c := range []struct {
		name   string
		repeat int
	}{{"a", 1}, {"b", 1}, {"b", 2}, {"a", 3}} {
		r.Runs = append(r.Runs, results.Run{Number: i + 1, Configuration: c.name, Repeat: c.repeat})
	}
	if got := blocksOf(r); got[3] != 2 || got[4] != 3 {
		t.Errorf("the blocks are %v, want the repeats", got)
	}
	for i := range r.Runs {
		r.Runs[i].Repeat = 0
	}
	if got := blocksOf(r); got[1] != 1 || got[2] != 1 || got[3] != 2 || got[4] != 2 {
		t.Errorf("the blocks are %v, want two of them", got)
	}
}
