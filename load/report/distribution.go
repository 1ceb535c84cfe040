package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/internal/hdr"
	"github.com/weirhq/weir/load/internal/latencies"
)

// A distribution is a latency of a result with the moment from which it counts.
type distribution struct {
	*load.Latency
	from      string // "from due" or "from sent"
	histogram *hdr.Histogram
}

// primary returns the main latency: from due in the open loop, otherwise from
// sent.
func primary(r *load.Result) (l *load.Latency, from string) {
	if r.LatencyFromDue != nil {
		return r.LatencyFromDue, "due"
	}
	return r.Latency, "sent"
}

// distributions returns the latencies that have a histogram: from due first, if
// the loop was open, then from sent. A latency without any answered request is
// left out.
func distributions(r *load.Result) ([]distribution, error) {
	var all []distribution
	for _, d := range []distribution{
		{Latency: r.LatencyFromDue, from: "from due"},
		{Latency: r.Latency, from: "from sent"},
	} {
		if d.Latency == nil || d.Histogram == "" {
			continue
		}
		h, err := hdr.Decode(d.Histogram)
		if err != nil {
			return nil, fmt.Errorf("report: the histogram of the latency %s, of %d bytes: %w; is the result whole?",
				d.from, len(d.Histogram), err)
		}
		if h.Count() == 0 {
			continue
		}
		d.histogram = h
		all = append(all, d)
	}
	return all, nil
}

// all returns the number of requests, including those that were never answered.
func (d *distribution) all() int64 { return d.histogram.Count() + d.NeverAnswered }

// rank returns the rank of the quantile q of all requests, given as x = 1/(1-q). It is that of
// the tables. finite is false if it is the rank of a request that was never answered, which the
// histogram does not have.
func (d *distribution) rank(x float64) (rank int64, finite bool) {
	rank = latencies.Rank(100*(1-1/x), d.all())
	return rank, rank <= d.histogram.Count()
}

// note describes the requests that a chart cannot show.
func (d *distribution) note() string {
	var parts []string
	if d.GivenUp > 0 {
		parts = append(parts, readable.Things(d.GivenUp, "request")+" given up: drawn at the time that each had taken.")
	}
	if d.NeverAnswered > 0 {
		requests := readable.Things(d.NeverAnswered, "request")
		parts = append(parts, requests+" never answered: the chart ends before them.")
	}
	return strings.Join(parts, " ")
}

// curve returns the latency in microseconds over 1/(1-q) at n places, evenly
// spaced on a logarithmic axis from 1 to limit. It ends at the number of
// requests, because 1,000 requests say nothing about one in 10,000, and before
// the requests that were never answered, which have no latency.
func (d *distribution) curve(n int, limit float64) []page.Point {
	var points []page.Point
	for i := range n {
		x := math.Pow(limit, float64(i)/float64(max(1, n-1)))
		if _, finite := d.rank(x); !finite || x > float64(d.all())*1.0001 {
			break
		}
		points = append(points, page.Point{X: x, Y: d.at(x)})
	}
	return points
}

// at returns the latency in microseconds at 1/(1-q) = x, or the largest if that
// is among the requests that were never answered.
func (d *distribution) at(x float64) float64 {
	rank, _ := d.rank(x)
	return float64(d.histogram.At(rank)) / 1e3
}

// atMost describes the latency at 1/(1-q) = x.
func (d *distribution) atMost(x float64) string {
	if _, finite := d.rank(x); !finite {
		return "an infinite time " + d.from
	}
	return fmt.Sprintf("at most %s %s", readable.Span(d.at(x)), d.from)
}

// A bin counts the requests with a latency of at least from and less than to,
// in microseconds.
type bin struct {
	from, to float64
	count    int64
}

// bins divides the distribution into at most limit bins with round borders.
func (d *distribution) bins(limit int) []bin {
	low, high := float64(d.histogram.Min())/1e3, float64(d.histogram.Max())/1e3
	borders := borders(max(low, 1e-3), max(high, 1e-3), limit)
	bins := make([]bin, len(borders)-1)
	for i := range bins {
		bins[i].from, bins[i].to = borders[i], borders[i+1]
	}
	for bar := range d.histogram.Buckets() {
		middle := (float64(bar.From) + float64(bar.To)) / 2e3
		i, found := slices.BinarySearch(borders, middle)
		if !found {
			i--
		}
		bins[min(max(i, 0), len(bins)-1)].count += bar.Count
	}
	return bins
}

// steps divide a decade: the series of preferred numbers E24, E12, E6 and E3
// (IEC 60063), and none.
var steps = [][]float64{
	{1, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.7, 3, 3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6, 6.2, 6.8, 7.5, 8.2, 9.1},
	{1, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2},
	{1, 1.5, 2.2, 3.3, 4.7, 6.8},
	{1, 2.2, 4.7},
	{1},
}

// borders returns at most limit+1 round numbers, the first at most low and the
// last above high. The steps are even if high is near low, and grow otherwise,
// so that both the many fast and the few slow requests are visible.
func borders(low, high float64, limit int) []float64 {
	if high < 3*low {
		return evenBorders(low, high, limit)
	}
	var b []float64
	for _, step := range steps {
		if b = grownBorders(low, high, step); len(b) <= limit+1 {
			break
		}
	}
	return b
}

func grownBorders(low, high float64, step []float64) []float64 {
	var b []float64
	for decade := math.Floor(math.Log10(low)); ; decade++ {
		for _, s := range step {
			v := s * math.Pow(10, decade)
			if v <= low {
				b = b[:0] // all so far are too low
			}
			b = append(b, v)
			if v > high {
				return b
			}
		}
	}
}

func evenBorders(low, high float64, limit int) []float64 {
	step := page.RoundStep((high-low)/float64(max(1, limit-2)), low/1e3)
	var b []float64
	for i := math.Floor(low / step); ; i++ {
		b = append(b, i*step)
		if i*step > high {
			return b
		}
	}
}
