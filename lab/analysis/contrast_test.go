package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// square returns an experiment of two loggers with two settings, as the built-in gc. Means has the mean rate of each
// configuration.
func square(seed uint64, runs int, means map[string]float64) *results.Results {
	names := []string{"old 10", "old 100", "new 10", "new 100"}
	all := []series{{names[0], around(seed, runs, means[names[0]], 0.02)}, {again, around(seed+1, runs, means[names[0]], 0.02)}}
	for i, name := range names[1:] {
		all = append(all, series{name, around(seed+2+uint64(i), runs, means[name], 0.02)})
	}
	r := closedLoop(all...)
	seldom := results.Contrast{Configuration: "old 100", Against: "old 10"}
	r.Contrasts = []results.Contrast{seldom, {Configuration: "new 100", Against: "new 10"},
		{Configuration: "new 10", Against: "old 10"}, {Configuration: "new 100", Against: "old 100"},
		{Configuration: "new 100", Against: "new 10", Than: &seldom}}
	return r
}

// A square is read within each level, and with one interaction. The diagonal is not asked for.
func TestSquareIsReadWithinEachLevel(t *testing.T) {
	a := analysis.Of(square(1, 10, map[string]float64{"old 10": 1000, "old 100": 2500, "new 10": 3000, "new 100": 3000}))
	var got []string
	for _, f := range a.Findings {
		got = append(got, string(f.Verdict)+"|"+f.Text)
	}
	for _, want := range []string{
		"better|With new 10, requests per second are 3.0",
		"better|With old 100, requests per second are 2.5",
		"better|With new 100, requests per second are 19% higher than with old 100",
		"~|No difference in requests per second was found between new 100 and new 10: ",
		"differs|Requests per second are ",
	} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("the findings lack %q:\n%s", want, strings.Join(got, "\n"))
		}
	}
	all := strings.Join(got, "\n")
	if !strings.Contains(all, " with old 100 as with old 10: the effects differ, by a ratio of 0.394") {
		t.Errorf("the interaction lacks its effects:\n%s", all)
	}
	m := rate(t, a)
	if d := m.Row("new 100").Versus; d.P != nil || d.Verdict != analysis.NotJudged {
		t.Errorf("new 100 against the baseline is %+v, want it not tested", d)
	}
	if f := a.Family; f.Comparisons != 5 || f.NeededRuns != 8 || len(m.Answers) != 3 {
		t.Errorf("the family is %+v with %d answers besides the baseline, want 5 comparisons and 3", f, len(m.Answers))
	}
}

// An interaction of values of 0 has no ratio, and is left out.
func TestInteractionNeedsPositiveValues(t *testing.T) {
	r := square(1, 10, map[string]float64{"old 10": 1000, "old 100": 2000, "new 10": 0, "new 100": 3000})
	for _, answer := range rate(t, analysis.Of(r)).Answers {
		if answer.Than != nil {
			t.Errorf("there is an interaction: %+v", answer)
		}
	}
}
