package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// The shares of [alpha] that are used within an experiment, and between the two sides of [Compare]. That is less, because
// some changes of the machine pass [betweenSessions].
const (
	inTurn       = 1.0
	withoutTurns = 0.7
)

// A trial is a comparison to be judged.
type trial struct {
	metric      string
	better      results.Better
	versus      *Difference
	interaction bool
	change      float64 // of the medians
	within      bool    // the difference is no larger than that of a baseline from its twin
	test
}

// A test is the statistical test of a comparison.
type test interface {
	vary() bool         // reports whether two values differ
	direction() float64 // positive if the values are larger than the base's

	// smallestP returns the smallest possible p, and smallestOf that of n runs of each configuration.
	smallestP() float64
	smallestOf(n int) float64
	runs() string
}

// inBlocks is the test of a contrast of one experiment.
type inBlocks struct {
	contest
	base, values []Value
}

func (t inBlocks) vary() bool { return vary(t.base, t.values) }

// smallestP is two of all permutations, because the test has two sides. With a twin it may be one of them, but only if
// the statistic is smaller where the smallest run of each block is the configuration's.
func (t inBlocks) smallestP() float64 {
	p := 2.0
	for _, b := range t.blocks {
		p /= float64(b.runs)
	}
	return min(1, p)
}

// smallestOf takes each block to have as many runs of the other configuration as the first one.
func (t inBlocks) smallestOf(n int) float64 {
	return smallestInBlocks(n, len(t.blocks) > 0 && t.blocks[0].runs == 3)
}

// smallestInBlocks returns the smallest p of n blocks, in which the other configuration has a twin or not.
func smallestInBlocks(n int, twin bool) float64 {
	runs := 2.0
	if twin {
		runs = 3
	}
	return min(1, 2*math.Pow(runs, -float64(n)))
}

func (t inBlocks) runs() string { return readable.Things(int64(len(t.blocks)), "block") }

// betweenSides is the test of one configuration in two sessions.
type betweenSides struct{ base, values []Value }

func (t betweenSides) vary() bool               { return vary(t.base, t.values) }
func (t betweenSides) direction() float64       { return dominance(t.base, t.values) }
func (t betweenSides) smallestP() float64       { return smallestP(len(t.base), len(t.values)) }
func (t betweenSides) smallestOf(n int) float64 { return smallestP(n, n) }
func (t betweenSides) runs() string             { return fmt.Sprintf("%d and %d", len(t.base), len(t.values)) }

// testable reports whether the trial is tested. It is not if all values are
// equal, or if neither direction is better.
func (t *trial) testable() bool { return t.better != results.Neither && t.vary() }

// judgeAll corrects the p of all trials of a page, with a share of [alpha], and sets the verdicts. It returns nil if no
// trial is tested.
func judgeAll(trials []trial, share float64) *Family {
	f := &Family{Alpha: alpha * share}
	var tested []trial
	for _, t := range trials {
		if !t.testable() {
			t.versus.Corrected = t.versus.P
			continue
		}
		tested = append(tested, t)
		if !slices.Contains(f.Metrics, t.metric) {
			f.Metrics = append(f.Metrics, t.metric)
		}
	}
	correctTrials(tested)
	for _, t := range tested {
		*t.versus.Corrected = min(1, *t.versus.Corrected/share)
	}
	f.Comparisons = len(tested)
	strictest := max(1, int(math.Ceil(float64(len(tested))/share-1e-9))) // factor of the smallest p
	for i := range trials {
		trials[i].judge(strictest)
	}
	for i := range tested {
		f.NeededRuns = max(f.NeededRuns, neededRuns(tested[i].smallestOf, strictest))
	}
	if len(tested) == 0 {
		return nil
	}
	return f
}

// correctTrials sets the corrected p of tested trials.
func correctTrials(tested []trial) {
	var differences []*Difference
	var contests []contest
	for _, t := range tested {
		differences = append(differences, t.versus)
		if b, ok := t.test.(inBlocks); ok {
			contests = append(contests, b.contest)
		}
	}
	if len(contests) < 2 {
		correct(differences)
		return
	}
	for i, p := range correctedTogether(contests, draws) {
		p = max(p, *differences[i].P)
		differences[i].Corrected = &p
	}
}

// judge sets the verdict of a trial. Family is the factor by which Bonferroni's correction multiplies the smallest p of
// the family.
func (t *trial) judge(family int) {
	d := t.versus
	d.Verdict = Noise
	switch {
	case !t.vary():
		d.Verdict, d.Why = Same, allEqual
	case t.better == results.Neither:
		d.Verdict, d.Why = NotJudged, "neither more nor less is better"
	case *d.Corrected > alpha && t.smallestP()*float64(family) > alpha:
		d.Verdict, d.Why = NotJudged, fmt.Sprintf("too few runs: %s; at least %d of each are needed", t.runs(),
			neededRuns(t.smallestOf, family))
	case *d.Corrected > alpha && *d.P <= alpha && d.betweenSessions > alpha:
		d.Why = changesWithTime
	case *d.Corrected > alpha:
		d.Why = fmt.Sprintf("chance may be all of it (p %.2g)", *d.Corrected)
	case t.change*t.direction() <= 0:
		d.Why = "the medians do not differ as the runs do"
	case t.within:
		d.Why = withinItself
	case t.interaction:
		d.Verdict = Differs
	case t.change > 0 == (t.better == results.Higher):
		d.Verdict = Better
	default:
		d.Verdict = Worse
	}
}

// neededRuns returns the number of runs per configuration with which one of that many comparisons can be significant.
// Smallest returns the smallest possible p of n runs.
func neededRuns(smallest func(n int) float64, comparisons int) int {
	n := 1
	for smallest(n)*float64(comparisons) > alpha {
		n++
	}
	return n
}
