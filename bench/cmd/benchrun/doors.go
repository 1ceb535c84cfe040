package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/weirhq/weir/bench/measure"
	"github.com/weirhq/weir/bench/proxy"
)

// doorRow is a door with its costs, pass by pass.
type doorRow struct {
	proxy.Door
	costs []proxy.Cost
}

func (r doorRow) series(of func(proxy.Cost) float64) measure.Series {
	return measure.SeriesOf(r.costs, of)
}

func (r doorRow) cpu() measure.Series {
	return r.series(func(c proxy.Cost) float64 { return float64(c.CPU.Nanoseconds()) / 1e3 })
}

func (r doorRow) mallocs() measure.Series {
	return r.series(func(c proxy.Cost) float64 { return c.Mallocs })
}

// writeDoors writes the table and the conclusions from several rows.
func writeDoors(w io.Writer, title string, rows []doorRow) error {
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "CPU us/req\tspread\treq/s\tp50 us\tp99 us\tallocs/req\tweir to it\t")
	weir := find(rows, proxy.Weir)
	for _, r := range rows {
		p50 := r.series(func(c proxy.Cost) float64 { return float64(c.P50.Microseconds()) })
		p99 := r.series(func(c proxy.Cost) float64 { return float64(c.P99.Microseconds()) })
		perSecond := r.series(func(c proxy.Cost) float64 { return c.PerSecond })
		fmt.Fprintf(t, "%.1f\t%s\t%.0f\t%.0f\t%.0f\t%s\t%s\t  %s (%s)\n", r.cpu().Median(), r.cpu().Spread(),
			perSecond.Median(),
			p50.Median(), p99.Median(), mallocsCell(r), ratioCell(weir, r), r.Name, r.Note)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	writeLogShare(w, rows)
	_, err := fmt.Fprintln(w)
	return err
}

func mallocsCell(r doorRow) string {
	if r.mallocs().Median() < 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", r.mallocs().Median())
}

// ratioCell returns the ratio of Weir's CPU time to the row's, or "~" if the difference is not significant.
func ratioCell(weir *doorRow, r doorRow) string {
	if weir == nil || r.Name == proxy.Weir {
		return "-"
	}
	return weir.cpu().RatioTo(r.cpu())
}

// writeLogShare writes the share of Weir's CPU time that its log takes, from the difference to the row without a log.
func writeLogShare(w io.Writer, rows []doorRow) {
	full := find(rows, proxy.Weir)
	for _, without := range []struct{ door, part string }{
		{proxy.WeirNull, "writing the lines to a file rather than to /dev/null"},
		{proxy.WeirSilent, "logging as a whole: making the three lines and writing them"},
	} {
		less := find(rows, without.door)
		if full == nil || less == nil {
			continue
		}
		if !full.cpu().Differs(less.cpu()) {
			fmt.Fprintf(w, "these passes do not show the share of weir's CPU that is %s\n", without.part)
			continue
		}
		of := full.cpu().Median()
		fmt.Fprintf(w, "%.0f%% of weir's CPU is %s\n", 100*(of-less.cpu().Median())/of, without.part)
	}
}

func find(rows []doorRow, name string) *doorRow {
	return measure.First(rows, func(r doorRow) bool { return r.Name == name })
}

// doorTargets are the maximum ratios of Weir's CPU time to other doors'. A negative one is reported without a verdict.
var doorTargets = []struct {
	result, door string
	ratio        float64
}{
	{"proxy_cpu_vs_nginx", proxy.Nginx, -1},
	{"proxy_cpu_vs_reverseproxy", proxy.ReverseProxy, 0.60},
	{"proxy_cpu_vs_caddy", proxy.Caddy, 0.45},
}

func judgeDoors(rows []doorRow) []fmt.Stringer {
	weir := find(rows, proxy.Weir)
	if weir == nil {
		return nil
	}
	var results []fmt.Stringer
	for _, t := range doorTargets {
		if peer := find(rows, t.door); peer != nil {
			results = append(results, ratioOf(t.result, weir.cpu().Median()/peer.cpu().Median(), t.ratio))
		}
	}
	if alone := find(rows, proxy.ServerOnly); alone != nil {
		results = append(results, judgeMallocs(*weir, *alone))
	}
	return results
}

// judgeMallocs compares the number of Weir's allocations per request beyond net/http's server with 0. It considers one
// decimal place: smaller values are allocations per connection and of pools that the garbage collector has emptied.
func judgeMallocs(weir, alone doorRow) measure.Verdict {
	beyond := max(0, weir.mallocs().Median()-alone.mallocs().Median())
	return measure.Verdict{Name: "proxy_allocs_beyond_nethttp", Ratio: -1, Allocs: math.Round(10*beyond) / 10,
		Bytes: -1, TargetRatio: -1, TargetBytes: -1}
}
