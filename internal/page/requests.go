package page

import (
	"fmt"
	"math"

	"github.com/weirhq/weir/internal/readable"
)

// A Request is a dot of a chart of requests.
type Request struct {
	At      float64 // in seconds
	Latency float64 // in microseconds
	Failed  bool
}

// Requests gives a figure its axes and its chart: a dot for each request over the
// time up to end, in seconds. ticks is the most that the axis of latencies has.
// failed names the dots of failed requests.
func (f *Figure) Requests(all []Request, end float64, ticks int, failed string) {
	least, most := math.Inf(1), 0.0
	dots := map[bool][]Point{}
	for _, r := range all {
		if r.Latency > 0 {
			least, most = min(least, r.Latency), max(most, r.Latency)
		}
		dots[r.Failed] = append(dots[r.Failed], Point{r.At, r.Latency})
	}
	f.X, f.Y = Time(end), Latencies(min(least, most), most, ticks)
	c := Chart{Spots: slowest(all, end)}
	for _, d := range []struct {
		failed      bool
		class, name string
	}{{false, "c1", "answered"}, {true, "bad", failed}} {
		if points := dots[d.failed]; points != nil {
			f.Keys = append(f.Keys, Key{d.class + " dots", d.name})
			c.Curves = append(c.Curves, Curve{Class: d.class, Shape: Dotted, Points: points})
		}
	}
	f.Charts = []Chart{c}
}

// slowest names the slowest request of each hundredth of the time.
func slowest(all []Request, end float64) []Bar {
	const parts = 100
	var latencies [parts]float64
	for _, r := range all {
		i := min(max(int(r.At/end*parts), 0), parts-1)
		latencies[i] = max(latencies[i], r.Latency)
	}
	var spots []Bar
	for i, us := range latencies {
		if us > 0 {
			from, to := end*float64(i)/parts, end*float64(i+1)/parts
			spots = append(spots, Bar{From: from, To: to, Text: fmt.Sprintf("%s to %s: the slowest took %s",
				readable.Clock(from), readable.Clock(to), readable.Span(us))})
		}
	}
	return spots
}
