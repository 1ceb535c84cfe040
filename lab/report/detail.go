package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// A detail is the folded part of a configuration: one of its runs over time,
// and its profiles.
type detail struct {
	Name    string
	Note    string
	Which   string        // the run and the reason for its choice
	Figures []page.Figure // only the last one has a time axis

	Profiles []profileView
}

const figureHeight = 130

// details returns the details of the configurations that have any.
func details(r *results.Results, a *analysis.Analysis, profiles map[string][]profileView) []detail {
	var all []detail
	for _, c := range r.Configurations {
		d := detail{Name: c.Name, Note: configurationNote(c), Profiles: profiles[c.Name]}
		if run := medianRun(r, a, c.Name); run != nil {
			d.draw(run, a)
		}
		if len(d.Figures) > 0 || len(d.Profiles) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// medianRun returns the measured run with samples or points whose first leading
// metric is nearest to the median of its configuration, or nil if there is
// none.
func medianRun(r *results.Results, a *analysis.Analysis, name string) *results.Run {
	off := map[int]float64{}
	if ms := leading(a, worthKnowing); len(ms) > 0 {
		if row := ms[0].Row(name); row != nil {
			for _, v := range row.Values {
				off[v.Run] = math.Abs(v.Value - row.Median)
			}
		}
	}
	var best *results.Run
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Configuration != name || !measured(run) || len(run.Samples) == 0 &&
			(run.Load == nil || len(run.Load.Points) == 0) {
			continue
		}
		if best == nil || off[run.Number] < off[best.Number] {
			best = run
		}
	}
	return best
}

func (d *detail) draw(run *results.Run, a *analysis.Analysis) {
	what := "its median run"
	if ms := leading(a, worthKnowing); len(ms) > 0 {
		what += " by " + ms[0].Name
	}
	d.Which = fmt.Sprintf("Run %d, %s, second by second. All charts have the same time axis.", run.Number, what)
	end := runEnd(run)
	if end <= 0 {
		return
	}
	if run.Load != nil && len(run.Load.Points) > 1 {
		d.Figures = append(d.Figures, pointFigure(run.Load, end))
	}
	samples := slices.Clone(run.Samples)
	samples = slices.DeleteFunc(samples, func(s results.Sample) bool { return s.At < 0 })
	for _, f := range []sampleFigure{cpuFigure, memoryFigure, heapFigure, outputFigure, behindFigure} {
		if drawn, ok := f.draw(samples, end); ok {
			d.Figures = append(d.Figures, drawn)
		}
	}
	for i := range d.Figures {
		d.Figures[i].Label, d.Figures[i].Height = d.Figures[i].Title+" of "+d.Name, figureHeight
	}
	if n := len(d.Figures); n > 0 {
		d.Figures[n-1].Below = chart.TimeTicks(end)
	}
}

// runEnd returns the time of a run's last point or sample, in seconds.
func runEnd(run *results.Run) float64 {
	end := 0.0
	if n := len(run.Samples); n > 0 {
		end = run.Samples[n-1].At
	}
	if run.Load != nil {
		end = max(end, run.Load.DurationSeconds)
		for _, p := range run.Load.Points {
			end = max(end, p.At)
		}
	}
	return end
}

// pointFigure draws a dot for each request: its start on the time axis, and its
// latency.
func pointFigure(l *load.Result, end float64) page.Figure {
	from := "sent"
	if l.LatencyFromDue != nil {
		from = "due"
	}
	f := page.Figure{
		Title: "Latency of requests, from " + from,
		Help: fmt.Sprintf("Each dot is a request at the moment it was %s (%s of %s, the slowest of each moment among "+
			"them). A stall shows as a saw-tooth: requests at its start waited longest.",
			from, readable.Things(int64(len(l.Points)), "request"), readable.Count(l.Sent)),
		Keys: []page.Key{{Class: "c1 dot", Name: "answered"}},
	}
	least, most := math.Inf(1), 0.0
	for _, p := range l.Points {
		if p.Latency > 0 {
			least, most = min(least, p.Latency), max(most, p.Latency)
		}
	}
	if most == 0 {
		least, most = 1, 1
	}
	axis := chart.Log(least, most, 6, chart.TickSpan)
	f.Rows = axis.Rows()
	var answered, failed []page.Point
	for _, p := range l.Points {
		at := page.Point{X: page.FigureWidth * p.At / end, Y: figureHeight * (1 - axis.Place(max(p.Latency, least)))}
		if p.Status == 0 || p.Status >= 500 {
			failed = append(failed, at)
		} else {
			answered = append(answered, at)
		}
	}
	f.Paths = append(f.Paths, page.Path{Class: "c1 points", D: page.Dots(answered)})
	if len(failed) > 0 {
		f.Paths = append(f.Paths, page.Path{Class: "bad points", D: page.Dots(failed)})
		f.Keys = append(f.Keys, page.Key{Class: "bad dot", Name: "failed, or answered with 5xx"})
	}
	return f
}

// A sampleFigure draws one or two values of samples. Two are stacked.
type sampleFigure struct {
	title, help, unit string
	keys              []page.Key
	of                []func(results.Sample) float64
	level             bool
}

var (
	cpuFigure = sampleFigure{
		title: "CPU of the service", unit: "", help: "1 is one CPU in full use, user and system stacked. A gap " +
			"during a stall means that the service waited; a high value means that it worked.",
		keys: []page.Key{{Class: "c1 area", Name: "user"}, {Class: "c2 area", Name: "system"}},
		of: []func(results.Sample) float64{func(s results.Sample) float64 { return s.User },
			func(s results.Sample) float64 { return s.System }},
	}
	memoryFigure = sampleFigure{
		title: "Memory of the service", unit: "bytes", help: "The memory of the service and its children (RSS). A " +
			"sudden fall is memory that was returned; growth during a stall is waiting work.",
		keys: []page.Key{{Class: "c2 area", Name: "memory"}},
		of:   []func(results.Sample) float64{func(s results.Sample) float64 { return float64(s.RSS) }}, level: true,
	}
	heapFigure = sampleFigure{
		title: "Heap", unit: "bytes", help: "The Go heap in use, sampled twice a second: shorter teeth are not " +
			"visible. Each fall is a garbage collection.",
		keys: []page.Key{{Class: "c3 area", Name: "heap in use"}},
		of:   []func(results.Sample) float64{func(s results.Sample) float64 { return float64(s.Heap) }}, level: true,
	}
	outputFigure = sampleFigure{
		title: "Log bytes per second", unit: "bytes/s", help: "The bytes of stdout and stderr that were read. If " +
			"this stops and latency rises, requests wait for the log.",
		keys: []page.Key{{Class: "c3 area", Name: "taken"}},
		of:   []func(results.Sample) float64{func(s results.Sample) float64 { return float64(s.Output) }},
	}
	behindFigure = sampleFigure{
		title: "Waiting for the log's reader", unit: "bytes",
		help: "Unread bytes in the pipe or terminal. A flat top is a full pipe: the next write waits.",
		keys: []page.Key{{Class: "c2 area", Name: "waiting"}},
		of:   []func(results.Sample) float64{func(s results.Sample) float64 { return float64(s.Behind) }}, level: true,
	}
)

// maxSteps is the number of points of a line: about one for each pixel or two.
const maxSteps = 500

func (f sampleFigure) draw(samples []results.Sample, end float64) (page.Figure, bool) {
	layers := make([][]point, len(f.of))
	most := 0.0
	for i := range f.of {
		stacked := func(s results.Sample) (sum float64) {
			for _, of := range f.of[:i+1] {
				sum += of(s)
			}
			return sum
		}
		layers[i] = thinned(samples, stacked, f.level)
		for _, p := range layers[i] {
			most = max(most, p.y)
		}
	}
	if most == 0 {
		return page.Figure{}, false
	}
	axis := fromZero(f.unit, most)
	drawn := page.Figure{Title: f.title, Help: f.help, Keys: f.keys, Rows: axis.Rows()}
	for i := len(layers) - 1; i >= 0; i-- { // the lowest last, over the others
		class, _, _ := strings.Cut(f.keys[i].Class, " ")
		placed := make([]page.Point, len(layers[i]))
		for k, p := range layers[i] {
			placed[k] = page.Point{X: page.FigureWidth * p.x / end, Y: figureHeight * (1 - axis.Place(p.y))}
		}
		line, area := page.Line(placed), page.Area(placed, figureHeight)
		if i < len(layers)-1 {
			drawn.Paths = append(drawn.Paths, page.Path{Class: "under", D: area})
		}
		drawn.Paths = append(drawn.Paths, page.Path{Class: class + " area", D: area}, page.Path{Class: class, D: line})
	}
	return drawn, true
}

// A point is a value at a time in seconds.
type point struct{ x, y float64 }

// thinned returns at most maxSteps points of a signal. Samples are merged: a
// level keeps their minimum and maximum, so that peaks remain, and a rate their
// mean.
func thinned(samples []results.Sample, of func(results.Sample) float64, level bool) []point {
	each := (len(samples) + maxSteps - 1) / maxSteps
	if level {
		each = (len(samples)*2 + maxSteps - 1) / maxSteps
	}
	if each <= 1 || level && each <= 2 {
		points := make([]point, len(samples))
		for i, s := range samples {
			points[i] = point{s.At, of(s)}
		}
		return points
	}
	var points []point
	for some := range slices.Chunk(samples, each) {
		if !level {
			sum := 0.0
			for _, s := range some {
				sum += of(s)
			}
			points = append(points, point{some[len(some)/2].At, sum / float64(len(some))})
			continue
		}
		points = append(points, extremes(some, of)...)
	}
	return points
}

// extremes returns the minimum and the maximum of samples, in order of time.
func extremes(samples []results.Sample, of func(results.Sample) float64) []point {
	low, high := 0, 0
	for i, s := range samples {
		if of(s) < of(samples[low]) {
			low = i
		}
		if of(s) > of(samples[high]) {
			high = i
		}
	}
	a, b := samples[min(low, high)], samples[max(low, high)]
	if low == high {
		return []point{{a.At, of(a)}}
	}
	return []point{{a.At, of(a)}, {b.At, of(b)}}
}
