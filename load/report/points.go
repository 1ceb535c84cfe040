package report

import (
	"fmt"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// pointsChart has a dot for each of a result's points.
func pointsChart(r *load.Result, end float64) page.Figure {
	_, from := primary(r)
	f := page.Figure{
		Title: "Requests over time, latency from " + from,
		Help: "Each dot is a request, placed when it was " + from +
			". A stall is a saw-tooth: the first requests waited longest, later ones less and less until it was over.",
		Note: fmt.Sprintf("%s of %s requests are drawn: the slowest of each short time, and a random one.",
			readable.Count(int64(len(r.Points))), readable.Count(r.Sent)),
	}
	requests := make([]page.Request, len(r.Points))
	for i, p := range r.Points {
		requests[i] = page.Request{At: p.At, Latency: p.Latency, Failed: p.Status == 0}
	}
	f.Requests(requests, end, latencyTicks, "failed")
	return f
}
