package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// A failing counts the failures of a configuration: of whole runs, and of requests in the measured runs.
type failing struct {
	failed, runs  int   // runs in which the service failed, of those that the lab could make
	without, sent int64 // requests without a 2xx answer
}

// failuresOf returns the failures of each configuration.
func failuresOf(r *results.Results) map[string]failing {
	all := map[string]failing{}
	for i := range r.Runs {
		run := &r.Runs[i]
		f := all[run.Configuration]
		switch {
		case run.ServiceFailed():
			f.failed++
			f.runs++
		case measured(run):
			f.runs++
			if run.Load != nil {
				f.without += run.Load.Without2xx()
				f.sent += run.Load.Sent
			}
		}
		all[run.Configuration] = f
	}
	return all
}

// manyRefused is the share of requests without a 2xx answer that a configuration may have above the baseline's and still
// be better. The requests that were answered are a selection beyond it.
const manyRefused = 0.01

// more returns the reason why a configuration with these failures is not better than one with those of base, or "" if it
// may be. A service that refuses or dies has low costs and latencies.
func (f failing) more(base failing) string {
	if f.runs > 0 && base.runs > 0 && f.failed*base.runs > base.failed*f.runs {
		return fmt.Sprintf("its service failed in %d of %s", f.failed, readable.Things(int64(f.runs), "run"))
	}
	if f.refused() > base.refused()+manyRefused {
		return fmt.Sprintf("%s of its requests had no 2xx answer", percent(f.refused()))
	}
	return ""
}

// refused returns the share of the requests without a 2xx answer.
func (f failing) refused() float64 { return float64(f.without) / float64(max(1, f.sent)) }

// unreliable returns a finding for each configuration whose service failed in some runs, and in a larger share of them
// than the baseline's. Its verdict needs Fisher's exact test at [alpha], corrected for the number of configurations.
func unreliable(t *table) []Finding {
	base := t.fails[t.baseline]
	var names []string
	for _, r := range t.runs {
		if f := t.fails[r.Configuration]; r.Configuration != t.again && r.Configuration != t.baseline && r.Counted > 0 &&
			base.runs > 0 && f.failed*base.runs != base.failed*f.runs {
			names = append(names, r.Configuration)
		}
	}
	var all []Finding
	for _, name := range names {
		f := t.fails[name]
		finding := Finding{Configuration: name, Text: fmt.Sprintf("With %s, the service failed in %d of %s; with %s, in "+
			"%d of %d.", name, f.failed, readable.Things(int64(f.runs), "run"), t.baseline, base.failed, base.runs)}
		p := fisher(f.failed, f.runs, base.failed, base.runs)
		switch corrected := min(1, p*float64(len(names))); {
		case corrected > alpha:
			finding.Text += fmt.Sprintf(" Chance may be all of the difference (p %.2g).", corrected)
		case f.failed*base.runs > base.failed*f.runs:
			finding.Verdict = Worse
		default:
			finding.Verdict = Better
		}
		all = append(all, finding)
	}
	return all
}

// fisher returns the two-sided p of Fisher's exact test for a of n and b of m (R. A. Fisher, Statistical Methods for
// Research Workers, 1934): the sum of the probabilities of all tables with the same sums that are not more probable.
func fisher(a, n, b, m int) float64 {
	ways := func(n, k int) float64 { // logarithm of n over k
		x, _ := math.Lgamma(float64(n + 1))
		y, _ := math.Lgamma(float64(k + 1))
		z, _ := math.Lgamma(float64(n - k + 1))
		return x - y - z
	}
	probability := func(k int) float64 { return math.Exp(ways(n, k) + ways(m, a+b-k) - ways(n+m, a+b)) }
	const rounding = 1 + 1e-9
	p := 0.0
	for k := max(0, a+b-m); k <= min(n, a+b); k++ {
		if each := probability(k); each <= probability(a)*rounding {
			p += each
		}
	}
	return min(1, p)
}

// withheld returns a finding for each configuration that would be better in a metric if it did not fail more often than
// the baseline.
func withheld(rows []judged) []Finding {
	var all []Finding
	for _, name := range configurations(rows) {
		var metrics []string
		why := ""
		for _, j := range rows {
			if j.row.Configuration == name && j.row.Versus.withheld {
				metrics, why = append(metrics, j.metric.Name), j.row.Versus.Why
			}
		}
		if len(metrics) > 0 {
			slices.Sort(metrics)
			all = append(all, Finding{Configuration: name, Text: fmt.Sprintf("With %s, %s cannot be judged: %s.", name,
				listed(metrics, maxNamed), why)})
		}
	}
	return all
}
