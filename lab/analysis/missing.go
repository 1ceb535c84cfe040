package analysis

import (
	"fmt"
	"slices"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// A gap is a reason for which parts of the usage are missing, and the configurations that lack them.
type gap struct {
	why   string
	parts []results.Part
	of    []string
}

// missingParts returns sentences about the parts of the usage that runs could not measure.
func missingParts(r *results.Results) []string {
	var gaps []*gap
	for i := range r.Runs {
		run := &r.Runs[i]
		for _, m := range run.Missing {
			at := slices.IndexFunc(gaps, func(g *gap) bool { return g.why == m.Why })
			if at < 0 {
				at, gaps = len(gaps), append(gaps, &gap{why: m.Why})
			}
			g := gaps[at]
			if !slices.Contains(g.parts, m.Part) {
				g.parts = append(g.parts, m.Part)
			}
			if !slices.Contains(g.of, run.Configuration) {
				g.of = append(g.of, run.Configuration)
			}
		}
	}
	var all []string
	for _, g := range gaps {
		with := " with " + listed(g.of, maxNamed)
		if len(g.of) == len(r.Configurations) {
			with = ""
		}
		var parts []string
		for _, p := range results.Parts() {
			if slices.Contains(g.parts, p) {
				parts = append(parts, string(p))
			}
		}
		all = append(all, fmt.Sprintf("There are no values of %s%s: %s.", readable.Enumerate(parts), with, g.why))
	}
	return all
}
