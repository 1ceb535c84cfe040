package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir/internal/chart"
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

// height returns the distance of a value from the top of a chart.
func height(a chart.Axis, v float64) float64 { return chartHeight * (1 - a.Place(v)) }

// level draws segments of time as horizontal lines. Adjacent segments are
// joined. A value without a place on the axis leaves a gap.
func level(a chart.Axis, segments []segment, end float64) string {
	var points []page.Point
	for i, s := range segments {
		if i > 0 && math.Abs(s.from-segments[i-1].to) >= 1e-6 {
			points = append(points, page.Point{Y: math.NaN()})
		}
		points = append(points, step(a, s, end)...)
	}
	return page.Line(points)
}

func step(a chart.Axis, s segment, end float64) []page.Point {
	y := height(a, s.value)
	return []page.Point{{X: page.FigureWidth * s.from / end, Y: y}, {X: page.FigureWidth * s.to / end, Y: y}}
}

// area draws the same segments filled down to the axis.
func area(a chart.Axis, segments []segment, end float64) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString(page.Area(step(a, s, end), chartHeight))
	}
	return b.String()
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
		for i, t := range tracks(r)[len(tracks(r))-2:] {
			all = append(all, []timeChart{{
				Figure: page.Figure{Title: "CPU of the server",
					Help: "1 is one CPU in full use. If it stays below the machine's CPUs while latencies rise, the " +
						"server waits for something else."},
				draws: []drawn{{"c2 area", "CPUs", t}}, text: readable.Number,
			}, {
				Figure: page.Figure{Title: "Memory of the server",
					Help: "The memory of the process (RSS). A constant level is healthy. A level that still rises at " +
						"the end may be a leak."},
				draws: []drawn{{"c2 area", "memory", t}}, text: readable.Size, bytes: true,
			}}[i])
		}
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

// secondTrack returns the track of a value of each second.
func secondTrack(r *load.Result, of func(load.Second) float64, dips bool) track {
	t := track{dips: dips, segments: make([]segment, len(r.Series))}
	for i, s := range r.Series {
		t.segments[i] = segment{s.Start, s.Start + s.Seconds, of(s)}
	}
	return t
}

func latencyTracks(r *load.Result) []drawn {
	return []drawn{
		{"faint", "maximum", secondTrack(r, func(s load.Second) float64 { return float64(s.Max) }, false)},
		{"c2", "p99", secondTrack(r, func(s load.Second) float64 { return float64(s.P99) }, false)},
		{"c3 dashed", "p90", secondTrack(r, func(s load.Second) float64 { return float64(s.P90) }, false)},
		{"c1", "p50", secondTrack(r, func(s load.Second) float64 { return float64(s.P50) }, false)},
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
	axis := t.axis()
	c := t.Figure
	var merged [][]segment
	for _, d := range t.draws {
		segments := d.merged(maxSteps)
		merged = append(merged, segments)
		c.Keys = append(c.Keys, page.Key{Class: d.class, Name: d.name})
		if d.infinite() {
			c.Note = "A line at the upper edge shows requests that were never answered."
		}
		if len(segments) < len(d.segments) {
			c.Note = fmt.Sprintf("Each step covers %s and shows their worst value.",
				readable.Lasting(segments[0].to-segments[0].from))
		}
		if strings.HasSuffix(d.class, " area") {
			c.Paths = append(c.Paths, page.Path{Class: d.class, D: area(axis, segments, end)})
		}
		c.Paths = append(c.Paths, page.Path{Class: strings.TrimSuffix(d.class, " area"), D: level(axis, segments, end)})
	}
	c.Rows, c.Below = axis.Rows(), chart.TimeTicks(end)
	for i, s := range merged[0] {
		var values []string
		for k, d := range t.draws {
			values = append(values, d.name+" "+t.text(merged[k][i].value))
		}
		c.Spots = append(c.Spots, page.Spot{
			X: chart.Percent(100 * s.from / end), Width: chart.Percent(100 * (s.to - s.from) / end),
			Text: fmt.Sprintf("%s to %s: %s", readable.Clock(s.from), readable.Clock(s.to), strings.Join(values, ", ")),
		})
	}
	return c
}

// axis returns an axis that contains all values of the chart.
func (t *timeChart) axis() chart.Axis {
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
		return latencyAxis(low, most)
	case t.bytes:
		return chart.Bytes(most)
	}
	return chart.Linear(most, chart.TickText)
}

// latencyAxis returns a logarithmic axis.
func latencyAxis(low, high float64) chart.Axis { return chart.Log(low, high, 8, chart.TickSpan) }

// curvePoints is the number of points of a percentile curve. spotCount is the
// number of its tooltips.
const (
	curvePoints = 300
	spotCount   = 100
)

func percentileChart(ds []distribution) page.Figure {
	limit := plotLimit(ds[0].all())
	c := page.Figure{
		Title: "Latency by percentile",
		Help: "This share of the requests took at most that time. Each nine has the same width, so that the few " +
			"slow requests are as visible as the many fast ones. A cliff affects some users.",
	}
	if len(ds) > 1 {
		c.Help += " Where the lines diverge, requests waited before they were sent."
	}
	c.Note = ds[0].note()
	low, high := math.Inf(1), 0.0
	for _, d := range ds {
		low, high = min(low, d.at(1)), max(high, float64(d.histogram.Max())/1e3)
	}
	axis := latencyAxis(low, high)
	for i, d := range ds {
		class := []string{"c1", "c2 dashed"}[i]
		c.Keys = append(c.Keys, page.Key{Class: class, Name: d.from})
		c.Paths = append(c.Paths, page.Path{Class: class, D: curveLine(d.curve(curvePoints, limit), axis, limit)})
	}
	c.Rows = axis.Rows()
	nines := math.Log10(limit)
	for i := 0.0; i <= nines+.5; i++ {
		c.Below = append(c.Below, chart.Tick{At: chart.Percent(100 * i / nines), Text: quantileText(math.Pow(10, i))})
	}
	chart.Anchored(c.Below)
	c.Spots = percentileSpots(ds, limit)
	return c
}

func curveLine(points []point, axis chart.Axis, limit float64) string {
	var placed []page.Point
	for _, p := range points {
		placed = append(placed, page.Point{X: page.FigureWidth * math.Log(p.x) / math.Log(limit), Y: height(axis, p.y)})
	}
	if len(placed) == 1 { // one sample: a mark
		return page.Line(placed) + "h8"
	}
	return page.Line(placed)
}

func percentileSpots(ds []distribution, limit float64) []page.Spot {
	var spots []page.Spot
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
		spots = append(spots, page.Spot{
			X: chart.Percent(100 * float64(i) / spotCount), Width: 100.0 / spotCount,
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
	axis := chart.Linear(100*float64(most)/float64(all), func(v float64) string { return chart.TickText(v) + "%" })
	c := page.Figure{
		Title: "Distribution of the latency " + d.from,
		Help: "The share of the requests by their latency. One hill is one kind of response; two hills are two, such " +
			"as hits and misses of a cache. Very small shares are drawn as a thin line.",
		Note: d.note(),
		Rows: axis.Rows(),
	}
	width := 100 / float64(len(bins))
	for i, b := range bins {
		x := float64(i) * width
		if b.count > 0 {
			tall := max(100*axis.Place(100*float64(b.count)/float64(all)), 100*1.5/chartHeight)
			c.Boxes = append(c.Boxes, page.Box{X: chart.Percent(x), Y: chart.Percent(100 - tall),
				Width: chart.Percent(width * .92), Height: chart.Percent(tall)})
		}
		c.Spots = append(c.Spots, page.Spot{X: chart.Percent(x), Width: chart.Percent(width),
			Text: fmt.Sprintf("%s to %s: %s of the requests (%s)", chart.TickSpan(b.from), chart.TickSpan(b.to),
				readable.Share(b.count, all), readable.Count(b.count))})
	}
	c.Below = binTicks(bins)
	return c
}

// binTicks labels about five of the borders between bins.
func binTicks(bins []bin) []chart.Tick {
	each := max(1, (len(bins)+4)/5)
	var ticks []chart.Tick
	for i := 0; i < len(bins); i += each {
		ticks = append(ticks, chart.Tick{At: chart.Percent(100 * float64(i) / float64(len(bins))),
			Text: chart.TickSpan(bins[i].from)})
	}
	if ticks[len(ticks)-1].At < 85 {
		ticks = append(ticks, chart.Tick{At: 100, Text: chart.TickSpan(bins[len(bins)-1].to)})
	}
	return chart.Anchored(ticks)
}
