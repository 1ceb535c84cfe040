package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// byRun draws every run of a metric as a dot, with the median and its interval.
func byRun(m *analysis.Metric) page.Strips {
	s := page.Strips{
		File: slug(m.Name), Title: upperFirst(m.Name), Help: runHelp(m.Better),
		Keys: []page.Key{{Class: "c1 dot", Name: "a run"}, {Class: "c2 interval", Name: "median and its 95% interval"}},
	}
	for _, row := range m.Rows {
		s.Rows = append(s.Rows, runStrip(row.Configuration, row.Summary, m.Unit, "c1"))
	}
	fit(&s, m.Unit)
	return s
}

// outlier is the CSS class of a run that is far from the others.
const outlier = "bad"

// runStrip draws runs as dots of a class, with their median and its interval.
func runStrip(name string, runs analysis.Summary, unit, class string) page.Strip {
	st := page.Strip{Name: name, Value: analysis.Quantity(runs.Median, unit)}
	for i, v := range runs.Values {
		d := page.Dot{Class: class, At: v.Value, Down: .1 + .8*(float64(i)+1)/float64(len(runs.Values)+1),
			Text: fmt.Sprintf("run %d: %s", v.Run, analysis.Quantity(v.Value, unit))}
		if v.Outlier {
			d.Class = outlier
			d.Text += ", an outlier"
		}
		st.Dots = append(st.Dots, d)
	}
	median := "median " + st.Value
	if i := runs.Interval; i != nil {
		st.Lines = []page.Range{{Class: "c2 interval", From: i.Low, To: i.High, Text: median + ", 95% interval " +
			intervalText(i, unit)}}
	}
	st.Marks = []page.Dot{{Class: "c2", At: runs.Median, Text: median}}
	return st
}

// fit sets the axis of strips of runs. It adds a key for outliers, and the help
// says if the axis does not begin at 0.
func fit(s *page.Strips, unit string) {
	least, most := math.Inf(1), math.Inf(-1)
	outliers := false
	for _, row := range s.Rows {
		for _, d := range row.Dots {
			least, most = min(least, d.At), max(most, d.At)
			outliers = outliers || d.Class == outlier
		}
	}
	if outliers {
		s.Keys = append(s.Keys, page.Key{Class: outlier + " dot", Name: "an outlier"})
	}
	s.Axis = between(unit, least, most)
	if len(s.Axis.Ticks) > 0 && s.Axis.Ticks[0] > 0 {
		s.Help += " The axis does not begin at 0."
	}
}

func runHelp(b results.Better) string {
	way := "Lower is better."
	switch b {
	case results.Higher:
		way = "Higher is better."
	case results.Neither:
		way = "Neither direction is better."
	}
	return way + " Each dot is a run, the first on top: configurations whose intervals are apart differ; if their " +
		"dots mix, they hardly do; a slanted row of dots shows that the machine drifted."
}

// percentiles are the metrics of the chart of latencies, with their CSS
// classes.
var percentiles = []struct{ metric, class, name string }{
	{"latency p50", "c1", "p50"},
	{"latency p99", "c2", "p99"},
	{"latency p99.9", "c3", "p99.9"},
	{"latency max", "faint", "the slowest"},
}

// latencyStrips draws the medians of the percentiles. It has no rows if there
// are no latencies.
func latencyStrips(a *analysis.Analysis, r *results.Results) page.Strips {
	s := page.Strips{
		File: "latency-percentiles", Title: "Latency percentiles",
		Help: "Each mark is the median of a configuration's runs, and each step of the axis an equal ratio. If only " +
			"the others are farther right, few requests wait for something; if p50 is too, all do.",
	}
	least, most := math.Inf(1), 0.0
	for _, p := range percentiles {
		s.Keys = append(s.Keys, page.Key{Class: p.class + " dot", Name: p.name})
	}
	for _, c := range r.Configurations {
		st := page.Strip{Name: c.Name}
		var words []string
		for _, p := range percentiles {
			m := a.Metric(p.metric)
			if m == nil || m.Row(c.Name) == nil || m.Row(c.Name).Median <= 0 {
				continue
			}
			v := m.Row(c.Name).Median
			st.Dots = append(st.Dots, page.Dot{Class: p.class + " big", At: v, Down: .5, Text: p.name + " " +
				analysis.Quantity(v, "us")})
			least, most = min(least, v), max(most, v)
			if p.name == "p50" || p.name == "p99" {
				words = append(words, p.name+" "+analysis.Quantity(v, "us"))
			}
		}
		if len(st.Dots) == 0 {
			continue
		}
		st.Value = strings.Join(words, ", ")
		st.Lines = []page.Range{{Class: "thin", From: st.Dots[0].At, To: st.Dots[len(st.Dots)-1].At, Text: ""}}
		s.Rows = append(s.Rows, st)
	}
	if most > 0 {
		s.Axis = chart.Log(least, most, 8, chart.TickSpan)
	}
	return s
}

// cpuStrips draws the CPU per request in user and system mode. It has no rows
// if it is not known.
func cpuStrips(a *analysis.Analysis, r *results.Results) page.Strips {
	s := page.Strips{
		File: "cpu-per-request", Title: "CPU per request",
		Help: "CPU time of the service's processes per answered request, in user mode and in the kernel. Many small " +
			"writes are system time; formatting and garbage collection are user time.",
		Keys: []page.Key{{Class: "c1 area", Name: "user"}, {Class: "c2 area", Name: "system"}},
	}
	both, user, system := a.Metric("CPU per request"), a.Metric("user CPU per request"),
		a.Metric("system CPU per request")
	if both == nil || user == nil || system == nil {
		return s
	}
	most := 0.0
	for _, c := range r.Configurations {
		sums, u, y := both.Row(c.Name), user.Row(c.Name), system.Row(c.Name)
		if sums == nil || u == nil || y == nil {
			continue
		}
		sum := u.Median + y.Median // not exactly the median of the sums, which is the number beside it
		s.Rows = append(s.Rows, page.Strip{Name: c.Name, Value: analysis.Quantity(sums.Median, "us"),
			Bars: []page.Range{
				{Class: "c1", From: 0, To: u.Median, Text: "user " + analysis.Quantity(u.Median, "us")},
				{Class: "c2", From: u.Median, To: sum, Text: "system " + analysis.Quantity(y.Median, "us")},
			}})
		most = max(most, sum)
	}
	s.Axis = fromZero("us", most)
	return s
}

// maxOwn is the number of a service's own measures that are drawn. The tables
// have all of them.
const maxOwn = 40

// allStrips returns all charts by configuration, and the number of the runs'
// own measures beyond maxOwn. A measure that is the same in all runs has no
// chart.
func allStrips(r *results.Results, a *analysis.Analysis) (all []page.Strips, left int) {
	drawn := map[string]bool{}
	add := func(m *analysis.Metric) {
		if m != nil && len(m.Rows) > 0 && !drawn[m.Name] {
			drawn[m.Name] = true
			all = append(all, byRun(m))
		}
	}
	add(a.Metric("requests per second"))
	for _, s := range []page.Strips{latencyStrips(a, r), cpuStrips(a, r)} {
		if len(s.Rows) > 0 {
			all = append(all, s)
		}
	}
	own := 0
	for i := range a.Metrics {
		m := &a.Metrics[i]
		if (m.Own || m.Leads) && !m.Varies() {
			continue
		}
		if m.Own {
			if own++; own > maxOwn {
				left++
				continue
			}
		}
		if m.Own || m.Leads {
			add(m)
		}
	}
	add(a.Metric("memory, peak"))
	return uniqueFiles(all), left
}

// uniqueFiles makes the names of the files unique.
func uniqueFiles(all []page.Strips) []page.Strips {
	seen := map[string]int{}
	for i := range all {
		name := all[i].File
		if seen[name]++; seen[name] > 1 {
			all[i].File = fmt.Sprintf("%s-%d", name, seen[name])
		}
	}
	return all
}

// slug returns a file name for a metric: letters, digits and hyphens.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-")
	if s == "" {
		return "measure"
	}
	return s[:min(len(s), 60)]
}

func upperFirst(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}
