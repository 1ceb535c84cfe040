package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

const (
	// muchFaster is the ratio from which on a service that becomes faster while it is measured is reported.
	muchFaster = 1.05

	// warmLevel is the greatest probability of reporting that a service warms up which does not change.
	warmLevel = 0.05
)

// StillWarming returns a sentence if the service still warmed up while it was measured, and otherwise "". Either it became
// faster from the first half of the load to the second, by 5% in half of the runs: of all runs, or of one configuration. The
// signs of the runs test that, because a service that does not change is faster in either half equally often. Or most runs
// were still warming up when they had used the longest extension.
func StillWarming(runs []results.Run) string {
	all := warmUps{}
	var each []warmUps
	for i := range runs {
		r := &runs[i]
		if r.WarmUp == nil || !measured(r) {
			continue
		}
		at := slices.IndexFunc(each, func(w warmUps) bool { return w.configuration == r.Configuration })
		if at < 0 {
			at, each = len(each), append(each, warmUps{configuration: r.Configuration})
		}
		all.add(r.WarmUp)
		each[at].add(r.WarmUp)
	}
	level := warmLevel / float64(len(each)+1)
	for _, test := range []struct {
		reports func(*warmUps) bool
		why     func(*warmUps) string
	}{
		{func(w *warmUps) bool { return w.rises(level) }, (*warmUps).rise},
		{(*warmUps).unfinished, (*warmUps).end},
	} {
		if test.reports(&all) {
			return all.sentence("The service", test.why)
		}
		var names []string
		some := warmUps{}
		for i := range each {
			if test.reports(&each[i]) {
				names = append(names, each[i].configuration)
				some.join(&each[i])
			}
		}
		if len(names) > 0 {
			return some.sentence("With "+listed(names, maxNamed)+", the service", test.why)
		}
	}
	return ""
}

// warmUps are the warm-ups of several runs.
type warmUps struct {
	configuration string
	runs, marked  int
	ratios        []float64 // by which the service became faster, where that is known
	longest       float64   // in seconds
}

func (w *warmUps) add(u *results.WarmUp) {
	w.runs++
	w.longest = max(w.longest, u.Seconds)
	if u.Warming {
		w.marked++
	}
	if u.Faster != nil && *u.Faster != 1 {
		w.ratios = append(w.ratios, *u.Faster)
	}
}

func (w *warmUps) join(other *warmUps) {
	w.runs, w.marked, w.longest = w.runs+other.runs, w.marked+other.marked, max(w.longest, other.longest)
	w.ratios = append(w.ratios, other.ratios...)
}

// unfinished reports whether most runs began to be measured while the service warmed up.
func (w *warmUps) unfinished() bool { return 2*w.marked > w.runs }

// rises reports whether the service became faster while it was measured.
func (w *warmUps) rises(level float64) bool {
	faster := 0
	for _, ratio := range w.ratios {
		if ratio > 1 {
			faster++
		}
	}
	return len(w.ratios) > 0 && heads(faster, len(w.ratios)) <= level && w.middle() >= muchFaster
}

func (w *warmUps) middle() float64 { return middleOf(slices.Clone(w.ratios)) }

// sentence says why the service was reported.
func (w *warmUps) sentence(subject string, why func(*warmUps) string) string {
	return fmt.Sprintf("%s still warmed up %s. Set warm_up to more than %s.", subject, why(w), readable.Lasting(w.longest))
}

func (w *warmUps) rise() string {
	return fmt.Sprintf("while it was measured: it was %s faster in the second half of the load than in the first (median of %s)",
		percent(w.middle()-1), readable.Things(int64(len(w.ratios)), "run"))
}

func (w *warmUps) end() string {
	return fmt.Sprintf("when the measurement began, in %d of %s", w.marked, readable.Things(int64(w.runs), "run"))
}

// heads returns the probability that at least k of n fair coins are heads.
func heads(k, n int) float64 {
	p := 0.0
	for ; k <= n; k++ {
		p += math.Exp(ways(n, k) - float64(n)*math.Ln2)
	}
	return min(1, p)
}
