package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/internal/readable"
)

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

// ways returns the logarithm of the binomial coefficient n over k.
func ways(n, k int) float64 {
	x, _ := math.Lgamma(float64(n + 1))
	y, _ := math.Lgamma(float64(k + 1))
	z, _ := math.Lgamma(float64(n - k + 1))
	return x - y - z
}

// withheld returns a finding for each configuration that would be better in a metric if it did not fail more often than
// the baseline.
func withheld(rows []judged) []Finding {
	var all []Finding
	for _, name := range configurations(rows) {
		var metrics []string
		why := ""
		for _, j := range rows {
			if j.row.Configuration == name && j.versus.withheld {
				metrics, why = append(metrics, j.metric.Name), j.versus.Why
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
