package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// charts returns the charts of a result that have any data.
func charts(r *load.Result, ds []distribution) []page.Figure {
	var all []page.Figure
	if end := end(r); end > 0 {
		all = timeCharts(r, end)
	}
	if len(ds) > 0 {
		all = append(all, percentileChart(ds), histogramChart(&ds[0]))
	}
	for i := range all {
		all[i].Height = chartHeight
	}
	return all
}

const chartHeight = 180

// level returns segments of time as horizontal lines. Adjacent segments are
// joined.
func level(segments []segment) []page.Point {
	var points []page.Point
	for i, s := range segments {
		if i > 0 && math.Abs(s.from-segments[i-1].to) >= 1e-6 {
			points = append(points, page.Point{X: s.from, Y: math.NaN()})
		}
		points = append(points, page.Point{X: s.from, Y: s.value}, page.Point{X: s.to, Y: s.value})
	}
	return points
}

// timeCharts returns the charts over time, which share an axis from 0 to end,
// in seconds.
func timeCharts(r *load.Result, end float64) []page.Figure {
	_, from := primary(r)
	all := []timeChart{
		{
			Figure: page.Figure{Title: "Responses per second",
				Help: "Higher is better. During a dip the server answered fewer requests." + pacedHelp(r)},
			draws: append([]drawn{{"c1 area", "answered", secondTrack(r, responsesPerSecond, true)}},
				asked(r)...), text: readable.Number,
		}, {
			Figure: page.Figure{Title: "Errors per second",
				Help: "Requests that failed and connections that could not be made. A burst during a dip of the " +
					"responses suggests a problem of the server; a steady level, one of the request."},
			draws: []drawn{{"bad area", "errors", secondTrack(r, errorsPerSecond, false)}}, text: readable.Number,
		}, {
			Figure: page.Figure{Title: "Latency from " + from + ", each second",
				Help: "Each step is an equal ratio. If only p99 or the maximum rises, few requests wait for " +
					"something; if all rise together, all do."},
			draws: latencyTracks(r), text: spanText, log: true,
		},
	}
	if r.Server != nil {
		all = append(all, serverCharts(r)...)
	}
	var charts []page.Figure
	for _, t := range all {
		if t.most() > 0 {
			charts = append(charts, t.draw(end))
		}
	}
	if len(r.Points) > 0 {
		charts = append(charts, pointsChart(r, end))
	}
	return charts
}

func serverCharts(r *load.Result) []timeChart {
	return []timeChart{
		{
			Figure: page.Figure{Title: "CPU of the server",
				Help: "1 is one CPU in full use. If it stays below the machine's CPUs while latencies rise, the " +
					"server waits for something else."},
			draws: []drawn{{"c2 area", "CPUs", sampleTrack(r, cpuOf)}}, text: readable.Number,
		}, {
			Figure: page.Figure{Title: "Memory of the server",
				Help: "The memory of the process (RSS). A constant level is healthy. A level that still rises at " +
					"the end may be a leak."},
			draws: []drawn{{"c2 area", "memory", sampleTrack(r, memoryOf)}}, text: readable.Size, bytes: true,
		},
	}
}

func pacedHelp(r *load.Result) string {
	if r.Pacing == nil {
		return " In the closed loop the server sets this rate."
	}
	return " In the open loop the pace sets this rate, and the responses follow it while the server keeps up."
}

func asked(r *load.Result) []drawn {
	if r.Pacing == nil {
		return nil
	}
	rate := func(s load.Second) float64 { return perSecond(s.Asked, s) }
	return []drawn{{"c2 dashed", "asked", secondTrack(r, rate, true)}}
}

func latencyTracks(r *load.Result) []drawn {
	return []drawn{
		{"faint", "maximum", secondTrack(r, maxOf, false)},
		{"c2", "p99", secondTrack(r, p99Of, false)},
		{"c3 dashed", "p90", secondTrack(r, func(s load.Second) float64 { return float64(s.P90) }, false)},
		{"c1", "p50", secondTrack(r, p50Of, false)},
	}
}

// A drawn track is a line of a chart.
type drawn struct {
	class, name string
	track
}

// A timeChart is a chart of tracks over time.
type timeChart struct {
	page.Figure
	draws []drawn
	text  func(float64) string
	log   bool // the values are latencies
	bytes bool // the values are sizes
}

func (t *timeChart) most() float64 {
	most := 0.0
	for _, d := range t.draws {
		most = max(most, d.most())
	}
	return most
}

// maxSteps is the number of steps of a track: about one for each pixel or two.
const maxSteps = 400

func (t *timeChart) draw(end float64) page.Figure {
	f := t.Figure
	f.X, f.Y = page.Time(end), t.axis()
	var c page.Chart
	var merged [][]segment
	for _, d := range t.draws {
		segments := d.merged(maxSteps)
		merged = append(merged, segments)
		f.Keys = append(f.Keys, page.Key{Class: d.class, Name: d.name})
		if d.infinite() {
			f.Note = "A line at the upper edge shows requests that were never answered."
		}
		if len(segments) < len(d.segments) {
			f.Note = fmt.Sprintf("Each step covers %s and shows their worst value.",
				readable.Lasting(segments[0].to-segments[0].from))
		}
		if class, filled := strings.CutSuffix(d.class, " area"); filled {
			c.Curves = append(c.Curves, page.Filled(class, level(segments), nil)...)
		} else {
			c.Curves = append(c.Curves, page.Curve{Class: d.class, Shape: page.Line, Points: level(segments)})
		}
	}
	for i, s := range merged[0] {
		var values []string
		for k, d := range t.draws {
			values = append(values, d.name+" "+t.text(merged[k][i].value))
		}
		c.Spots = append(c.Spots, page.Bar{From: s.from, To: s.to,
			Text: fmt.Sprintf("%s to %s: %s", readable.Clock(s.from), readable.Clock(s.to), strings.Join(values, ", "))})
	}
	f.Charts = []page.Chart{c}
	return f
}

// axis returns an axis that contains all values of the chart.
func (t *timeChart) axis() page.Axis {
	most := t.most()
	switch {
	case t.log:
		low := most
		for _, d := range t.draws {
			for _, s := range d.segments {
				if s.value > 0 {
					low = min(low, s.value)
				}
			}
		}
		return page.Latencies(low, most, latencyTicks)
	case t.bytes:
		return page.Bytes(most)
	}
	return page.Linear(most, page.TickText)
}

// latencyTicks is the number of ticks for which an axis of latencies has room.
const latencyTicks = 8

// curvePoints is the number of points of a percentile curve. spotCount is the
// number of its tooltips.
const (
	curvePoints = 300
	spotCount   = 100
)

func percentileChart(ds []distribution) page.Figure {
	limit := plotLimit(ds[0].all())
	f := page.Figure{
		Title: "Latency by percentile",
		Help: "This share of the requests took at most that time. Each nine has the same width, so that the few " +
			"slow requests are as visible as the many fast ones. A cliff affects some users.",
		Note: ds[0].note(),
		X:    ninesAxis(limit),
	}
	if len(ds) > 1 {
		f.Help += " Where the lines diverge, requests waited before they were sent."
	}
	low, high := math.Inf(1), 0.0
	c := page.Chart{Spots: percentileSpots(ds, limit)}
	for i, d := range ds {
		low, high = min(low, d.at(1)), max(high, float64(d.histogram.Max())/1e3)
		class := []string{"c1", "c2 dashed"}[i]
		f.Keys = append(f.Keys, page.Key{Class: class, Name: d.from})
		c.Curves = append(c.Curves, page.Curve{Class: class, Shape: page.Line, Points: d.curve(curvePoints, limit)})
	}
	f.Y = page.Latencies(low, high, latencyTicks)
	f.Charts = []page.Chart{c}
	return f
}

// ninesAxis returns an axis of 1/(1-q) from 1 to limit, a power of ten. Each nine
// of the quantile q has the same width.
func ninesAxis(limit float64) page.Axis {
	a := page.Axis{Place: func(x float64) float64 { return math.Log(x) / math.Log(limit) }, Text: quantileText}
	for x := 1.0; x < limit*2; x *= 10 {
		a.Ticks = append(a.Ticks, x)
	}
	return a
}

func percentileSpots(ds []distribution, limit float64) []page.Bar {
	var spots []page.Bar
	for i := range spotCount {
		x := math.Pow(limit, (float64(i)+.5)/spotCount)
		if x > float64(ds[0].all()) {
			break
		}
		var values []string
		for _, d := range ds {
			values = append(values, d.atMost(x))
		}
		decimals := int(math.Ceil(math.Log10(x)))
		spots = append(spots, page.Bar{
			From: math.Pow(limit, float64(i)/spotCount), To: math.Pow(limit, float64(i+1)/spotCount),
			Text: fmt.Sprintf("%.*f%% of the requests took %s", max(0, decimals-1), 100*(1-1/x),
				strings.Join(values, ", ")),
		})
	}
	return spots
}

// maxBoxes is the number of bars of a histogram.
const maxBoxes = 48

func histogramChart(d *distribution) page.Figure {
	bins := d.bins(maxBoxes)
	all, most := d.all(), int64(0)
	for _, b := range bins {
		most = max(most, b.count)
	}
	f := page.Figure{
		Title: "Distribution of the latency " + d.from,
		Help: "The share of the requests by their latency. One hill is one kind of response; two hills are two, such " +
			"as hits and misses of a cache. Very small shares are drawn as a thin line.",
		Note: d.note(),
		X:    binsAxis(bins),
		Y:    page.Linear(100*float64(most)/float64(all), func(v float64) string { return page.TickText(v) + "%" }),
	}
	visible := f.Y.Ticks[len(f.Y.Ticks)-1] * 1.5 / chartHeight
	var c page.Chart
	for i, b := range bins {
		from := float64(i)
		if b.count > 0 {
			c.Bars = append(c.Bars, page.Bar{Class: "c1", From: from, To: from + .92,
				High: max(100*float64(b.count)/float64(all), visible)})
		}
		c.Spots = append(c.Spots, page.Bar{From: from, To: from + 1,
			Text: fmt.Sprintf("%s to %s: %s of the requests (%s)", page.TickSpan(b.from), page.TickSpan(b.to),
				readable.Share(b.count, all), readable.Count(b.count))})
	}
	f.Charts = []page.Chart{c}
	return f
}

// binsAxis returns an axis of numbers of bins, all of the same width. It labels
// about five of the borders between them.
func binsAxis(bins []bin) page.Axis {
	n := float64(len(bins))
	a := page.Axis{Place: func(i float64) float64 { return i / n }, Text: func(i float64) string {
		if i == n {
			return page.TickSpan(bins[len(bins)-1].to)
		}
		return page.TickSpan(bins[int(i)].from)
	}}
	each := max(1, (len(bins)+4)/5)
	for i := 0; i < len(bins); i += each {
		a.Ticks = append(a.Ticks, float64(i))
	}
	if a.Ticks[len(a.Ticks)-1] < .85*n {
		a.Ticks = append(a.Ticks, n)
	}
	return a
}
