package report

import (
	"fmt"
	"math"
	"slices"

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
	for _, s := range signals {
		if f, ok := s.figure(samples); ok {
			d.Figures = append(d.Figures, f)
		}
	}
	for i := range d.Figures {
		f := &d.Figures[i]
		f.Of, f.Height, f.X = d.Name, figureHeight, page.Time(end)
		if i < len(d.Figures)-1 {
			f.X.Ticks = nil
		}
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
	}
	requests := make([]page.Request, len(l.Points))
	for i, p := range l.Points {
		requests[i] = page.Request{At: p.At, Latency: p.Latency, Failed: p.Status == 0 || p.Status >= 500}
	}
	f.Requests(requests, end, 6, "failed, or answered with 5xx")
	return f
}

// maxSteps is the number of points of a line: about one for each pixel or two.
const maxSteps = 500

// figure draws the signal of one run. It returns false if the signal is not drawn
// for one run, or no value is above 0.
func (s signal) figure(samples []results.Sample) (page.Figure, bool) {
	var c page.Chart
	var low []float64 // upper edge of the part before
	most := 0.0
	for i, p := range s.parts {
		below := signal{parts: s.parts[:i+1]}
		points := thinned(samples, below.value, s.level)
		c.Curves = append(c.Curves, page.Filled(p.class, points, low)...)
		low = nil
		for _, p := range points {
			most = max(most, p.Y)
			low = append(low, p.Y)
		}
	}
	return page.Figure{Title: s.runTitle, Help: s.runHelp, Keys: s.keys(), Y: fromZero(s.unit, most),
		Charts: []page.Chart{c}}, most > 0 && s.runTitle != ""
}

// thinned returns at most maxSteps points of a signal. Samples are merged: a
// level keeps their minimum and maximum, so that peaks remain, and a rate their
// mean.
func thinned(samples []results.Sample, of func(results.Sample) float64, level bool) []page.Point {
	each := (len(samples) + maxSteps - 1) / maxSteps
	if level {
		each = (len(samples)*2 + maxSteps - 1) / maxSteps
	}
	if each <= 1 || level && each <= 2 {
		points := make([]page.Point, len(samples))
		for i, s := range samples {
			points[i] = page.Point{X: s.At, Y: of(s)}
		}
		return points
	}
	var points []page.Point
	for some := range slices.Chunk(samples, each) {
		if !level {
			sum := 0.0
			for _, s := range some {
				sum += of(s)
			}
			points = append(points, page.Point{X: some[len(some)/2].At, Y: sum / float64(len(some))})
			continue
		}
		points = append(points, extremes(some, of)...)
	}
	return points
}

// extremes returns the minimum and the maximum of samples, in order of time.
func extremes(samples []results.Sample, of func(results.Sample) float64) []page.Point {
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
		return []page.Point{{X: a.At, Y: of(a)}}
	}
	return []page.Point{{X: a.At, Y: of(a)}, {X: b.At, Y: of(b)}}
}
