package analysis

import (
	"math"
	"slices"

	"github.com/weirhq/weir/lab/results"
)

// A budget has the share of [alpha] for each family. By Bonferroni's
// inequality, the probability of a false sentence on a page is at most their
// sum.
type budget struct {
	first, second float64 // if there are two families
	only          float64 // if there is only one
}

// With a twin, the sum may be twice as large. A difference then has to be
// significant, and larger than the twin's ([withinNoise]). Of three
// configurations that are alike, each pair is equally often the closest one. So
// no more than half of the significant differences between two of them pass,
// and the probability of a false sentence is at most half of the sum. The first
// family gets all of alpha, as if it were the only one.
//
// Between the two sides of [Compare] there is no twin. Its sum is lower than
// alpha, because some changes of the machine pass [betweenSessions].
var (
	withTwin     = budget{first: 1, second: 0.3, only: 1}
	withoutTwin  = budget{first: 0.6, second: 0.4, only: 1}
	withoutTurns = budget{first: 0.4, second: 0.3, only: 0.7}
)

// A trial is a comparison to be judged.
type trial struct {
	metric       string
	better       results.Better
	first        bool // in the first family
	versus       *Difference
	base, values []Value
	within       bool // the difference is no larger than that of two configurations that are the same
}

// testable reports whether the trial is tested. It is not if all values are
// equal, or if neither direction is better.
func (t *trial) testable() bool { return t.better != results.Neither && vary(t.base, t.values) }

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
	var tested []*Difference
	for i := range trials {
		t := &trials[i]
		if !t.testable() {
			t.versus.Corrected = t.versus.P
			continue
		}
		tested = append(tested, t.versus)
		f.Leads = t.first
		if !slices.Contains(f.Metrics, t.metric) {
			f.Metrics = append(f.Metrics, t.metric)
		}
	}
	correct(tested)
	for _, d := range tested {
		*d.Corrected = min(1, *d.Corrected/share)
	}
	f.Comparisons = len(tested)
	strictest := max(1, int(math.Ceil(float64(len(tested))/share-1e-9))) // factor of the smallest p
	for _, t := range trials {
		t.versus.judge(t.better, t.base, t.values, t.within, strictest)
	}
	if len(tested) == 0 {
		return nil
	}
	f.NeededRuns = neededRuns(strictest)
	return []Family{f}
}
