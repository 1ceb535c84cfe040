package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

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
func writeDoors(w io.Writer, c proxyCase, title string, rows []doorRow) error {
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	tail, failed := "", ""
	if c.fixed {
		tail, failed = "p99.9 us\t", "failed %\t"
	}
	fmt.Fprintf(t, "CPU us/req\tspread\tto nginx\tweir to it\treq/s\tp50 us\tp99 us\t%s%sallocs/req\t\n", tail, failed)
	weir, nginx := find(rows, proxy.Weir), find(rows, proxy.Nginx)
	for _, r := range rows {
		if c.fixed {
			tail = fmt.Sprintf("%.0f\t", micros(r, func(c proxy.Cost) time.Duration { return c.P999 }))
			failed = fmt.Sprintf("%.2f\t", r.series(func(c proxy.Cost) float64 { return c.Failed }).Median())
		}
		perSecond := r.series(func(c proxy.Cost) float64 { return c.PerSecond })
		fmt.Fprintf(t, "%.1f\t%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%s%s%s\t  %s (%s)\n", r.cpu().Median(), r.cpu().Spread(),
			ratioCell(&r, nginx), ratioCell(weir, &r), perSecond.Median(), p50(r), p99(r), tail, failed, mallocsCell(r),
			r.Name, noteOf(c, r))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	writeLogShare(w, rows)
	_, err := fmt.Fprintln(w)
	return err
}

func micros(r doorRow, of func(proxy.Cost) time.Duration) float64 {
	return r.series(func(c proxy.Cost) float64 { return float64(of(c).Nanoseconds()) / 1e3 }).Median()
}

func p50(r doorRow) float64 { return micros(r, func(c proxy.Cost) time.Duration { return c.P50 }) }
func p99(r doorRow) float64 { return micros(r, func(c proxy.Cost) time.Duration { return c.P99 }) }

// noteOf returns the row's note, with the share of the log lines that it lost.
func noteOf(c proxyCase, r doorRow) string {
	if c.Log == proxy.Off && r.Lines > 0 {
		return "no log"
	}
	if lost := r.series(func(c proxy.Cost) float64 { return c.Lost }); slices.Max(lost) > 0 {
		return fmt.Sprintf("%s, lost up to %.2f%% of them", r.Note, slices.Max(lost))
	}
	return r.Note
}

func mallocsCell(r doorRow) string {
	if r.mallocs().Median() < 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", r.mallocs().Median())
}

// ratioCell returns the ratio of a's CPU time to b's, with "~" if the difference is not significant.
func ratioCell(a, b *doorRow) string {
	if a == nil || b == nil || a.Name == b.Name {
		return "-"
	}
	return a.cpu().RatioTo(b.cpu())
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

// doorTargets are the maximum ratios of a row of Weir to other doors' in a case, by the start of its result lines. A
// negative one is reported without a verdict.
var doorTargets = []struct {
	result, row, figure, door string
	ratio                     float64
}{
	{"proxy", proxy.Weir, "cpu", proxy.Nginx, 1.00},
	{"proxy", proxy.WeirOne, "one_event_cpu", proxy.Nginx, 0.90},
	{"proxy", proxy.Weir, "cpu", proxy.HAProxy, -1},
	{"proxy", proxy.Weir, "cpu", proxy.Pingora, -1},
	{"proxy", proxy.Weir, "cpu", proxy.ReverseProxy, 0.60},
	{"proxy", proxy.Weir, "cpu", proxy.Caddy, 0.45},
	{"proxy_64_pipe", proxy.Weir, "cpu", proxy.Nginx, 1.00},
	{"proxy_64_pipe", proxy.WeirOne, "one_event_cpu", proxy.Nginx, 0.90},
	{"proxy_1000_file", proxy.Weir, "cpu", proxy.Nginx, 0.75},
	{"proxy_1_file", proxy.Weir, "cpu", proxy.Nginx, 1.10},
	{"proxy_1_file", proxy.Weir, "p50", proxy.Nginx, 1.10},
	{"proxy_fixed", proxy.Weir, "p99", proxy.Nginx, 1.00},
}

// figures are the functions that compute a row's figure for doorTargets.
var figures = map[string]func(doorRow) float64{
	"cpu":           func(r doorRow) float64 { return r.cpu().Median() },
	"one_event_cpu": func(r doorRow) float64 { return r.cpu().Median() },
	"p50":           p50,
	"p99":           p99,
}

// judgeDoors returns the result lines of a case.
func judgeDoors(c proxyCase, rows []doorRow) []fmt.Stringer {
	var results []fmt.Stringer
	for _, t := range doorTargets {
		weir, peer := find(rows, t.row), find(rows, t.door)
		if t.result != c.result || weir == nil || peer == nil {
			continue
		}
		figure := figures[t.figure]
		name := fmt.Sprintf("%s_%s_vs_%s", t.result, t.figure, strings.ToLower(strings.TrimPrefix(t.door, "httputil.")))
		results = append(results, ratioOf(name, figure(*weir)/figure(*peer), t.ratio))
	}
	weir, alone := find(rows, proxy.Weir), find(rows, proxy.ServerOnly)
	if weir != nil && alone != nil {
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
