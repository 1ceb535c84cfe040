package report

import (
	"fmt"
	"math"

	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// pointSpots is the number of parts of the time that have a tooltip with their
// slowest request.
const pointSpots = 100

// pointsChart has a dot for each of a result's points.
func pointsChart(r *load.Result, end float64) page.Figure {
	_, from := primary(r)
	c := page.Figure{
		Title: "Requests over time, latency from " + from,
		Help: "Each dot is a request, placed when it was " + from +
			". A stall is a saw-tooth: the first requests waited longest, later ones less and less until it was over.",
		Note: fmt.Sprintf("%s of %s requests are drawn: the slowest of each short time, and a random one.",
			readable.Count(int64(len(r.Points))), readable.Count(r.Sent)),
	}
	low, high := math.Inf(1), 0.0
	for _, p := range r.Points {
		if high = max(high, p.Latency); p.Latency > 0 {
			low = min(low, p.Latency)
		}
	}
	axis := latencyAxis(min(low, high), high)
	c.Rows, c.Below = axis.Rows(), chart.TimeTicks(end)
	answered, failed := dots(axis, r.Points, end)
	for _, d := range []struct{ class, name, path string }{{"c1 dots", "answered", answered},
		{"bad dots", "failed", failed}} {
		if d.path != "" {
			c.Keys = append(c.Keys, page.Key{Class: d.class, Name: d.name})
			c.Paths = append(c.Paths, page.Path{Class: d.class, D: d.path})
		}
	}
	c.Spots = slowestSpots(r.Points, end)
	return c
}

// dots returns the paths of the dots of answered and of failed requests.
func dots(a chart.Axis, points []load.Point, end float64) (answered, failed string) {
	var ok, bad []page.Point
	for _, p := range points {
		at := page.Point{X: page.FigureWidth * p.At / end, Y: height(a, p.Latency)}
		if p.Status == 0 {
			bad = append(bad, at)
		} else {
			ok = append(ok, at)
		}
	}
	return page.Dots(ok), page.Dots(bad)
}

func slowestSpots(points []load.Point, end float64) []page.Spot {
	var slowest [pointSpots]float64
	for _, p := range points {
		i := min(max(int(p.At/end*pointSpots), 0), pointSpots-1)
		slowest[i] = max(slowest[i], p.Latency)
	}
	var spots []page.Spot
	for i, us := range slowest {
		if us > 0 {
			x := float64(i) / pointSpots
			spots = append(spots, page.Spot{
				X: chart.Percent(100 * x), Width: 100.0 / pointSpots,
				Text: fmt.Sprintf("%s to %s: the slowest took %s", readable.Clock(end*x),
					readable.Clock(end*(x+1.0/pointSpots)), readable.Span(us)),
			})
		}
	}
	return spots
}
