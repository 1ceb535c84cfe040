package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// byRun draws every run of a metric as a dot, with the median and its interval.
func byRun(m *analysis.Metric) page.Figure {
	f := strips(slug(m.Name), upperFirst(m.Name), runHelp(m.Better),
		page.Key{Class: "c1 dots", Name: "a run"}, page.Key{Class: "c2 interval", Name: "median and its 95% interval"})
	for _, row := range m.Rows {
		f.Charts = append(f.Charts, runStrip(row.Configuration, row.Summary, m.Unit, "c1"))
	}
	fit(&f, m.Unit)
	return f
}

// strips returns a figure whose charts are rows. Their vertical places are from 0
// to 1.
func strips(file, title, help string, keys ...page.Key) page.Figure {
	return page.Figure{File: file, Title: title, Help: help, Keys: keys, Rows: true, Height: 30}
}

// outlier is the CSS class of a run that is far from the others.
const outlier = "bad"

// runStrip draws runs as dots of a class, the first on top, with their median and
// its interval.
func runStrip(name string, runs analysis.Summary, unit, class string) page.Chart {
	c := page.Chart{Name: name, Value: analysis.Quantity(runs.Median, unit)}
	for i, v := range runs.Values {
		d := page.Dot{Class: class, X: v.Value, Y: .9 - .8*(float64(i)+1)/float64(len(runs.Values)+1),
			Text: fmt.Sprintf("run %d: %s", v.Run, analysis.Quantity(v.Value, unit))}
		if v.Outlier {
			d.Class = outlier
			d.Text += ", an outlier"
		}
		c.Dots = append(c.Dots, d)
	}
	median := "median " + c.Value
	if i := runs.Interval; i != nil {
		c.Bars = []page.Bar{{Class: "c2 interval", From: i.Low, To: i.High, Low: .3, High: .7,
			Text: median + ", 95% interval " + intervalText(i, unit)}}
	}
	c.Curves = []page.Curve{{Class: "c2 median", Shape: page.Line, Text: median,
		Points: []page.Point{{X: runs.Median, Y: .1}, {X: runs.Median, Y: .9}}}}
	return c
}

// fit sets the axis of strips of runs. It adds a key for outliers, and the help
// says if the axis does not begin at 0.
func fit(f *page.Figure, unit string) {
	least, most := math.Inf(1), math.Inf(-1)
	outliers := false
	for _, c := range f.Charts {
		for _, d := range c.Dots {
			least, most = min(least, d.X), max(most, d.X)
			outliers = outliers || d.Class == outlier
		}
	}
	if outliers {
		f.Keys = append(f.Keys, page.Key{Class: outlier + " dots", Name: "an outlier"})
	}
	f.X = between(unit, least, most)
	if len(f.X.Ticks) > 0 && f.X.Ticks[0] > 0 {
		f.Help += " The axis does not begin at 0."
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

// latencyStrips draws the medians of the percentiles. It has no charts if there
// are no latencies.
func latencyStrips(a *analysis.Analysis, r *results.Results) page.Figure {
	f := strips("latency-percentiles", "Latency percentiles",
		"Each mark is the median of a configuration's runs, and each step of the axis an equal ratio. If only "+
			"the others are farther right, few requests wait for something; if p50 is too, all do.")
	least, most := math.Inf(1), 0.0
	for _, p := range percentiles {
		f.Keys = append(f.Keys, page.Key{Class: p.class + " dots", Name: p.name})
	}
	for _, c := range r.Configurations {
		strip := page.Chart{Name: c.Name}
		var words []string
		for _, p := range percentiles {
			m := a.Metric(p.metric)
			if m == nil || m.Row(c.Name) == nil || m.Row(c.Name).Median <= 0 {
				continue
			}
			v := m.Row(c.Name).Median
			text := p.name + " " + analysis.Quantity(v, "us")
			strip.Dots = append(strip.Dots, page.Dot{Class: p.class, X: v, Y: .5, Big: true, Text: text})
			least, most = min(least, v), max(most, v)
			if p.name == "p50" || p.name == "p99" {
				words = append(words, text)
			}
		}
		if len(strip.Dots) == 0 {
			continue
		}
		strip.Value = strings.Join(words, ", ")
		strip.Bars = []page.Bar{{Class: "faint", From: strip.Dots[0].X, To: strip.Dots[len(strip.Dots)-1].X, Low: .475,
			High: .525}}
		f.Charts = append(f.Charts, strip)
	}
	if most > 0 {
		f.X = page.Latencies(least, most, 8)
	}
	return f
}

// cpuStrips draws the CPU per request in user and system mode. It has no charts
// if it is not known.
func cpuStrips(a *analysis.Analysis, r *results.Results) page.Figure {
	f := strips("cpu-per-request", "CPU per request",
		"CPU time of the service's processes per answered request, in user mode and in the kernel. Many small "+
			"writes are system time; formatting and garbage collection are user time.",
		page.Key{Class: "c1 area", Name: "user"}, page.Key{Class: "c2 area", Name: "system"})
	both, user, system := a.Metric("CPU per request"), a.Metric("user CPU per request"),
		a.Metric("system CPU per request")
	if both == nil || user == nil || system == nil {
		return f
	}
	most := 0.0
	for _, c := range r.Configurations {
		sums, u, y := both.Row(c.Name), user.Row(c.Name), system.Row(c.Name)
		if sums == nil || u == nil || y == nil {
			continue
		}
		sum := u.Median + y.Median // not exactly the median of the sums, which is the number beside it
		bar := func(class, name string, from, to, median float64) page.Bar {
			return page.Bar{Class: class + " stack", From: from, To: to, Low: .2, High: .8,
				Text: name + " " + analysis.Quantity(median, "us")}
		}
		f.Charts = append(f.Charts, page.Chart{Name: c.Name, Value: analysis.Quantity(sums.Median, "us"), Bars: []page.Bar{
			bar("c1", "user", 0, u.Median, u.Median), bar("c2", "system", u.Median, sum, y.Median)}})
		most = max(most, sum)
	}
	f.X = fromZero("us", most)
	return f
}

// maxOwn is the number of a service's own measures that are drawn. The tables
// have all of them.
const maxOwn = 40

// allStrips returns all charts by configuration, and the number of the runs'
// own measures beyond maxOwn. A measure that is the same in all runs has no
// chart.
func allStrips(r *results.Results, a *analysis.Analysis) (all []page.Figure, left int) {
	drawn := map[string]bool{}
	add := func(m *analysis.Metric) {
		if m != nil && len(m.Rows) > 0 && !drawn[m.Name] {
			drawn[m.Name] = true
			all = append(all, byRun(m))
		}
	}
	add(a.Metric("requests per second"))
	for _, f := range []page.Figure{latencyStrips(a, r), cpuStrips(a, r)} {
		if len(f.Charts) > 0 {
			all = append(all, f)
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
func uniqueFiles(all []page.Figure) []page.Figure {
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
