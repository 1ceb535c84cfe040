package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// A budget has the share of [alpha] for each family. By Bonferroni's
// inequality, the probability of a false sentence on a page is at most their
// sum.
type budget struct {
	first, second float64 // if there are two families
	only          float64 // if there is only one
}

// Within an experiment, all of alpha is used. Between the two sides of [Compare] it is less, because some changes of the
// machine pass [betweenSessions].
var (
	inTurn       = budget{first: 0.7, second: 0.3, only: 1}
	withoutTurns = budget{first: 0.4, second: 0.3, only: 0.7}
)

// A trial is a comparison to be judged.
type trial struct {
	metric string
	better results.Better
	first  bool // in the first family
	versus *Difference
	change float64 // of the medians
	within bool    // the difference is no larger than that of a baseline from its twin
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

// inBlocks is the test of a configuration against the baseline of the same experiment.
type inBlocks struct {
	contest
	base, values []Value
}

func (t inBlocks) vary() bool { return vary(t.base, t.values) }

// smallestP is one of all permutations. If the baseline has one run in each block, it is two of them: where all runs
// change places, the statistic is the same.
func (t inBlocks) smallestP() float64 {
	p, symmetric := 1.0, true
	for _, b := range t.blocks {
		p /= float64(b.runs)
		symmetric = symmetric && b.runs == 2
	}
	if symmetric {
		p *= 2
	}
	return min(1, p)
}

// smallestOf takes each block to have as many runs of the baseline as the first one.
func (t inBlocks) smallestOf(n int) float64 {
	if len(t.blocks) > 0 && t.blocks[0].runs == 2 {
		return min(1, 2*math.Pow(2, -float64(n)))
	}
	return math.Pow(3, -float64(n))
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

// judgeAll corrects the p of all trials of a page and sets the verdicts. If all
// trials of the first family differ, the second one is judged as if it were the
// only one, because no true null hypothesis has used any of alpha (gatekeeping,
// Dmitrienko, Offen and Westfall, Statistics in Medicine 22, 2003).
func judgeAll(trials []trial, b budget) []Family {
	var first, second []trial
	for _, t := range trials {
		if t.first {
			first = append(first, t)
		} else {
			second = append(second, t)
		}
	}
	firstShare, secondShare := b.first, b.second
	if countTested(first) == 0 || countTested(second) == 0 {
		firstShare, secondShare = b.only, b.only
	}
	families := judgeFamily(first, firstShare)
	if countTested(first) > 0 && allDiffer(first) {
		secondShare = b.only
	}
	return append(families, judgeFamily(second, secondShare)...)
}

func countTested(trials []trial) (n int) {
	for i := range trials {
		if trials[i].testable() {
			n++
		}
	}
	return n
}

func allDiffer(trials []trial) bool {
	return !slices.ContainsFunc(trials, func(t trial) bool { return t.testable() && !t.versus.differs() })
}

// judgeFamily judges trials with a share of alpha. It returns the family, or
// nil if no trial was tested.
func judgeFamily(trials []trial, share float64) []Family {
	f := Family{Alpha: alpha * share}
	var tested []trial
	for _, t := range trials {
		if !t.testable() {
			t.versus.Corrected = t.versus.P
			continue
		}
		tested = append(tested, t)
		f.Leads = t.first
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
	if len(tested) == 0 {
		return nil
	}
	f.NeededRuns = tested[0].neededRuns(strictest)
	return []Family{f}
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
		d.Verdict, d.Why = Same, "all of the values are the same"
	case t.better == results.Neither:
		d.Verdict, d.Why = NotJudged, "neither more nor less is better"
	case *d.Corrected > alpha && t.smallestP()*float64(family) > alpha:
		d.Verdict, d.Why = NotJudged, fmt.Sprintf("too few runs: %s; at least %d of each are needed", t.runs(),
			t.neededRuns(family))
	case *d.Corrected > alpha && *d.P <= alpha && d.betweenSessions > alpha:
		d.Why = changesWithTime
	case *d.Corrected > alpha:
		d.Why = fmt.Sprintf("chance may be all of it (p %.2g)", *d.Corrected)
	case t.change*t.direction() <= 0:
		d.Why = "the medians do not differ as the runs do"
	case t.within:
		d.Why = withinItself
	case t.change > 0 == (t.better == results.Higher):
		d.Verdict = Better
	default:
		d.Verdict = Worse
	}
}

// neededRuns returns the number of runs per configuration with which one of
// that many comparisons can be significant.
func (t *trial) neededRuns(family int) int {
	n := 1
	for t.smallestOf(n)*float64(family) > alpha {
		n++
	}
	return n
}
