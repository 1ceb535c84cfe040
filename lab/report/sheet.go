package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// A sheet has the sentences and tables of a report, which all its forms show.
type sheet struct {
	page.Sheet
	Question   string
	Findings   []analysis.Finding
	HowSure    []string // sentences
	Overview   page.Table
	Measures   page.Table
	Runs       page.Table
	Unmeasured []endedRun
	Source     string
}

// An endedRun is a run that does not count or did not end cleanly.
type endedRun struct {
	Number        int
	Configuration string
	Text          string
	LastOutput    string
}

func newSheet(r *results.Results, a *analysis.Analysis) *sheet {
	return &sheet{
		Sheet:      newPage(cmp.Or(r.Title, r.Name, "Experiment"), facts(r), slices.Clone(a.Warnings)),
		Question:   r.Question,
		Findings:   a.Findings,
		HowSure:    append(howSure(a), family(a.Family)...),
		Overview:   overview(r, a, worthKnowing),
		Measures:   measures(a),
		Runs:       runTable(r, a),
		Unmeasured: unmeasured(r),
		Source:     r.Source,
	}
}

// howSure explains in sentences how reliable the numbers are.
func howSure(a *analysis.Analysis) []string {
	sentences := []string{"A run is one start of the service, or one load of a service that already ran. It is the unit of " +
		"all statistics here: each dot of a chart is a run, and each value is the median of a configuration's runs."}
	sentences = append(sentences,
		"An interval contains the median with 95% confidence. ~ marks a difference that is not significant. The test "+
			"permutes the runs of each block, which has one of each configuration; the two copies of the baseline count "+
			"as one, and p is corrected by the method of Westfall and Young.")
	if slices.ContainsFunc(a.Metrics, notJudged) {
		sentences = append(sentences,
			"A difference in parentheses was not judged: it is not tested, there are too few runs, or neither direction is "+
				"better.")
	}
	var noise []string
	for _, m := range leading(a, worthKnowing) {
		if d := m.Noise; d != nil && d.Ratio != nil {
			text := fmt.Sprintf("%s %s", m.Name, percentChange(*d.Ratio))
			if d.Interval != nil {
				text += fmt.Sprintf(" (%s)", changeInterval(d.Interval))
			}
			noise = append(noise, text)
		}
	}
	if len(noise) > 0 {
		sentences = append(sentences, "The baseline ran twice, and against itself it differed by this much, which is "+
			"this machine's noise: "+strings.Join(noise, "; ")+".")
	}
	return sentences
}

// maxFamily is the number of metrics of a family that are named.
const maxFamily = 6

// family describes the comparisons that are tested, and how many runs they need.
func family(f *analysis.Family) []string {
	if f == nil {
		return nil
	}
	return []string{fmt.Sprintf("Tested, and corrected together with %.3g as the limit of p: %s of %s. A significant "+
		"difference requires at least %s of each configuration. All other differences are descriptions.", f.Alpha,
		readable.Things(int64(f.Comparisons), "comparison"), readable.Enumerate(firstNames(f.Metrics)),
		readable.Things(int64(f.NeededRuns), "run")),
		"Of the pages of experiments in which nothing differs, about 5% report a difference."}
}

// firstNames shortens a list of metrics for a sentence.
func firstNames(names []string) []string {
	if more := len(names) - maxFamily; more > 0 {
		return append(slices.Clone(names[:maxFamily]), fmt.Sprintf("%d more metrics", more))
	}
	return names
}

// notJudged reports whether a difference of the metric is in parentheses.
func notJudged(m analysis.Metric) bool {
	return slices.ContainsFunc(m.Rows, func(r analysis.Row) bool {
		return r.Versus != nil && r.Versus.Verdict == analysis.NotJudged
	})
}

// worthKnowing are the metrics that fill the overview of a page.
var worthKnowing = []string{"requests per second", "latency p99", "CPU per request", "memory, peak"}

// worthKnowingBriefly are those of a terminal, which has room for more metrics
// without their differences.
var worthKnowingBriefly = []string{"requests per second", "CPU per request", "latency p50", "latency p99",
	"memory, peak"}

// leading returns the metrics to show first: those of the findings that are not the same in all runs, followed by
// worthKnowing, and no more than worthKnowing has.
func leading(a *analysis.Analysis, worthKnowing []string) []*analysis.Metric {
	var ms []*analysis.Metric
	add := func(m *analysis.Metric) {
		if m != nil && len(ms) < len(worthKnowing) && len(m.Rows) > 0 && !slices.Contains(ms, m) {
			ms = append(ms, m)
		}
	}
	for i := range a.Metrics {
		if a.Metrics[i].Leads && a.Metrics[i].Varies() {
			add(&a.Metrics[i])
		}
	}
	for _, name := range worthKnowing {
		add(a.Metric(name))
	}
	return ms
}

// versusName is the name of the column with the differences from the baseline.
const versusName = "against the baseline"

// overview has a row for each configuration.
func overview(r *results.Results, a *analysis.Analysis, worthKnowing []string) page.Table {
	ms := leading(a, worthKnowing)
	t := page.Table{Columns: []page.Column{{Name: "configuration"}, {Name: "runs", Number: true}}}
	for _, m := range ms {
		t.Columns = append(t.Columns, page.Numbers(m.Name, versusName)...)
	}
	for _, c := range r.Configurations {
		row := []page.Cell{{Text: c.Name, Small: configurationNote(c)}, runsCell(a, c.Name)}
		for _, m := range ms {
			row = append(row, valueCells(a, m, c.Name)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func configurationNote(c results.Configuration) string {
	var notes []string
	if c.Baseline {
		notes = append(notes, "the baseline")
	}
	if c.Again {
		notes = append(notes, "the baseline once more, to show the noise")
	}
	if c.About != "" {
		notes = append(notes, c.About)
	}
	return strings.Join(notes, "; ")
}

// runsCell returns the number of counted runs of a configuration, and of all.
func runsCell(a *analysis.Analysis, name string) page.Cell {
	for _, r := range a.Runs {
		if r.Configuration != name {
			continue
		}
		if r.Counted == r.All {
			return page.Cell{Text: readable.Count(int64(r.All))}
		}
		return page.Cell{Text: fmt.Sprintf("%d of %d", r.Counted, r.All), Sort: fmt.Sprint(r.Counted), Class: "worse",
			Why: "the others were not measured to their end"}
	}
	return page.Cell{Text: "0"}
}

// valueCells returns a metric's value and its difference from the baseline.
func valueCells(a *analysis.Analysis, m *analysis.Metric, name string) []page.Cell {
	row := m.Row(name)
	if row == nil {
		return []page.Cell{{Text: "-"}, {Text: ""}}
	}
	return []page.Cell{valueCell(row.Summary, m.Unit), versusCell(row.Versus, name == a.Baseline, name == a.Again)}
}

// versusCell describes the difference from the baseline. A twin is the
// baseline's twin.
func versusCell(d *analysis.Difference, baseline, twin bool) page.Cell {
	switch {
	case baseline:
		return page.Cell{Text: "baseline", Sort: "1", Class: "baseline"}
	case d == nil:
		return page.Cell{}
	}
	c := page.Cell{Text: verdict(d), Small: changeInterval(d.Interval), Why: d.Why, Class: "quiet"}
	switch {
	case twin && d.Ratio != nil:
		c.Text = "noise " + percentChange(*d.Ratio)
	case d.Verdict == analysis.Better, d.Verdict == analysis.Worse:
		c.Class = string(d.Verdict)
	case d.Verdict == analysis.Differs:
		c.Class = ""
	}
	if d.Ratio != nil {
		c.Sort = sortNumber(*d.Ratio)
	}
	return c
}

func sortNumber(v float64) string { return fmt.Sprintf("%.6g", v) }

// sorted returns a cell that is sorted by its value.
func sorted(text string, value float64) page.Cell {
	return page.Cell{Text: text, Sort: sortNumber(value)}
}

// valueCell returns the median of a metric with its interval.
func valueCell(s analysis.Summary, unit string) page.Cell {
	return page.Cell{Text: analysis.Quantity(s.Median, unit), Small: spread(s, unit), Sort: sortNumber(s.Median)}
}

// measures has a row for each metric of each configuration, and of each contrast that is not against the baseline.
func measures(a *analysis.Analysis) page.Table {
	numbers := page.Numbers("runs", "median", "95% interval", "difference", "95% interval of that", "p", "p, corrected")
	t := page.Table{Columns: append(page.Texts("measure", "configuration"), numbers...)}
	for i := range a.Metrics {
		m := &a.Metrics[i]
		for _, row := range m.Rows {
			versus := versusCell(row.Versus, row.Configuration == a.Baseline, row.Configuration == a.Again)
			t.Rows = append(t.Rows, append([]page.Cell{
				{Text: m.Name}, {Text: row.Configuration}, {Text: fmt.Sprint(len(row.Values))},
				{Text: analysis.Quantity(row.Median, m.Unit), Sort: sortNumber(row.Median)},
				{Text: intervalText(row.Interval, m.Unit)},
			}, differenceCells(row.Versus, versus)...))
		}
		for _, answer := range m.Answers {
			question := answer.String()
			if answer.Than != nil {
				question += ", than " + answer.Than.String()
			}
			t.Rows = append(t.Rows, append([]page.Cell{{Text: m.Name}, {Text: question}, {Text: "-"}, {Text: "-"}, {Text: "-"}},
				differenceCells(answer.Versus, versusCell(answer.Versus, false, false))...))
		}
	}
	return t
}

// differenceCells returns a difference, its interval and its p.
func differenceCells(d *analysis.Difference, v page.Cell) []page.Cell {
	interval := v.Small
	v.Small = ""
	var p, corrected *float64
	if d != nil {
		p, corrected = d.P, d.Corrected
	}
	return []page.Cell{v, {Text: cmp.Or(interval, "-")}, {Text: pText(p)}, {Text: pText(corrected)}}
}

// runTable has a row for each run, in the order in which they were made.
func runTable(r *results.Results, a *analysis.Analysis) page.Table {
	ms := leading(a, worthKnowing)
	t := page.Table{Columns: []page.Column{{Name: "run", Number: true}, {Name: "configuration"}, {Name: "ended"}}}
	for _, m := range ms {
		t.Columns = append(t.Columns, page.Column{Name: m.Name, Number: true})
	}
	t.Columns = append(t.Columns, page.Column{Name: "remarks"})
	values := valuesByRun(ms)
	for i := range r.Runs {
		run := &r.Runs[i]
		row := []page.Cell{{Text: fmt.Sprint(run.Number)},
			{Text: run.Configuration, Small: fmt.Sprintf("run %d of it", run.Repeat)}, outcomeCell(run)}
		var far []string
		for k, m := range ms {
			v, ok := values[k][run.Number]
			if !ok {
				row = append(row, page.Cell{Text: "-"})
				continue
			}
			c := page.Cell{Text: analysis.Quantity(v.Value, m.Unit), Sort: sortNumber(v.Value)}
			if v.Outlier {
				c.Class, c.Why = "outlier", "far from the other runs of this configuration; it counts"
				far = append(far, m.Name)
			}
			row = append(row, c)
		}
		t.Rows = append(t.Rows, append(row, page.Cell{Text: runNotes(run, far), Class: "remark"}))
	}
	return t
}

func valuesByRun(ms []*analysis.Metric) []map[int]analysis.Value {
	all := make([]map[int]analysis.Value, len(ms))
	for i, m := range ms {
		all[i] = map[int]analysis.Value{}
		for _, row := range m.Rows {
			for _, v := range row.Values {
				all[i][v.Run] = v
			}
		}
	}
	return all
}

func outcomeCell(run *results.Run) page.Cell {
	if run.Outcome == results.Done {
		return page.Cell{Text: string(run.Outcome)}
	}
	return page.Cell{Text: string(run.Outcome), Class: "worse"}
}

// runNotes returns remarks about a run.
func runNotes(run *results.Run, far []string) string {
	var notes []string
	if len(far) > 0 {
		notes = append(notes, "outlier in "+readable.Enumerate(far))
	}
	if run.Load != nil {
		if run.Load.MachineBusy() {
			notes = append(notes, "the machine was busy")
		} else if run.Load.Saturated {
			notes = append(notes, "the load generator was at its limit")
		}
		if n := run.Load.Without2xx(); n > 0 {
			notes = append(notes, readable.Things(n, "request")+" not answered with 2xx")
		}
	}
	if run.WarmUp != nil && run.WarmUp.Warming {
		notes = append(notes, "still warming up when it was measured")
	}
	if run.Output.Lost > 0 {
		notes = append(notes, readable.Things(run.Output.Lost, "log line")+" lost")
	}
	if run.Error != "" {
		notes = append(notes, readable.Clip(run.Error))
	}
	for _, w := range run.Warnings {
		notes = append(notes, readable.Clip(w))
	}
	return strings.Join(notes, "; ")
}

// unmeasured returns the runs that did not end as they should.
func unmeasured(r *results.Results) []endedRun {
	var ended []endedRun
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Outcome == results.Done && run.LastOutput == "" {
			continue
		}
		text := string(run.Outcome)
		if run.Error != "" {
			text += ": " + readable.Clip(run.Error)
		}
		if run.Exit != "" {
			text += fmt.Sprintf(" (the service ended with %s)", readable.Clip(run.Exit))
		}
		ended = append(ended, endedRun{run.Number, run.Configuration, text, run.LastOutput})
	}
	return ended
}

func facts(r *results.Results) []page.Fact {
	runs := fmt.Sprintf("%s of %s", readable.Things(int64(len(r.Runs)), "run"),
		readable.Things(int64(len(r.Configurations)), "configuration"))
	if r.Seed != 0 {
		runs += fmt.Sprintf(", in an order shuffled by the seed %d", r.Seed)
	}
	f := []page.Fact{{Name: "runs", Text: runs}}
	if !r.Started.IsZero() {
		when := r.Started.Format("2006-01-02 15:04:05 MST")
		if r.Ended.After(r.Started) {
			when += ", for " + readable.Lasting(r.Ended.Sub(r.Started).Seconds())
		}
		f = append(f, page.Fact{Name: "began", Text: when})
	}
	if m := r.Machine; m.System != "" {
		f = append(f, page.Fact{Name: "machine", Text: strings.Join(slices.DeleteFunc([]string{
			readable.Things(int64(m.CPUs), "CPU"), m.Processor, m.System, m.Kernel, m.Go,
		}, func(s string) bool { return s == "" }), ", ")})
	}
	if load := loadFact(r); load != "" {
		f = append(f, page.Fact{Name: "load", Text: load})
	}
	by := "weir"
	if r.Version != "" {
		by += " " + r.Version
	}
	return append(f, page.Fact{Name: "by", Text: fmt.Sprintf("%s, which took %s%% of one CPU itself, without the load",
		by, readable.Number(100*r.LabCPU))})
}

// maxLoads is the number of loads that are described if the load is varied.
const maxLoads = 3

// loadFact describes the load of the runs.
func loadFact(r *results.Results) string {
	var loads []string
	for i := range r.Runs {
		l := r.Runs[i].Load
		if l == nil || l.DurationSeconds == 0 {
			continue
		}
		text := fmt.Sprintf("%s for %s by %s, %s", readable.Clip(cmp.Or(l.Pace, "closed")),
			readable.Lasting(max(math.Round(l.DurationSeconds), min(l.DurationSeconds, 1))),
			readable.Things(int64(l.Connections), "connection"), readable.Clip(l.Protocol))
		if !slices.Contains(loads, text) {
			loads = append(loads, text)
		}
	}
	if n := len(loads); n > maxLoads {
		loads = append(loads[:maxLoads], fmt.Sprintf("and %d others", n-maxLoads))
	}
	return strings.Join(loads, "; ")
}

//go:embed page.css
var pageCSS string

// newPage returns a page with the style of this package.
func newPage(title string, facts []page.Fact, warnings []string) page.Sheet {
	s := page.NewSheet(title, facts, pageCSS, "")
	s.Warnings = warnings
	return s
}
