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

func medianCPU(r doorRow) float64 { return r.cpu().Median() }

// memory returns the private memory of an idle connection in KiB.
func (r doorRow) memory() measure.Series {
	return r.series(func(c proxy.Cost) float64 { return c.Memory / 1024 })
}

// idleCPU returns the CPU time of the door with idle connections in milliseconds, minus that without connections.
func (r doorRow) idleCPU() measure.Series {
	return r.series(func(c proxy.Cost) float64 { return float64((c.IdleCPU - c.BareCPU).Nanoseconds()) / 1e6 })
}

// writeIdle writes the table of a case of idle connections.
func writeIdle(w io.Writer, c proxyCase, passes int, rows []doorRow) error {
	fmt.Fprintf(w, "\n%s: private memory for each after one request, CPU of the door in %s, %d passes by turns\n",
		c.name, c.Load, passes)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "KiB/connection\tspread\tCPU ms\twithout any\tdifference\t")
	for _, r := range rows {
		idle := r.series(func(c proxy.Cost) float64 { return float64(c.IdleCPU.Nanoseconds()) / 1e6 })
		bare := r.series(func(c proxy.Cost) float64 { return float64(c.BareCPU.Nanoseconds()) / 1e6 })
		fmt.Fprintf(t, "%.2f\t%s\t%.1f\t%.1f\t%.1f\t  %s\n", r.memory().Median(), r.memory().Spread(), idle.Median(),
			bare.Median(), r.idleCPU().Median(), r.Name)
	}
	return measure.EndTable(t, w)
}

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
	{"proxy", proxy.WeirRoutines, "goroutines_cpu", proxy.Nginx, -1},
	{"proxy", proxy.WeirRoutines, "goroutines_cpu", proxy.WeirBase, 0.70},
	{"proxy", proxy.Weir, "cpu", proxy.WeirBase, -1},
	{"proxy", proxy.Weir, "cpu", proxy.HAProxy, -1},
	{"proxy", proxy.Weir, "cpu", proxy.Pingora, -1},
	{"proxy", proxy.Weir, "cpu", proxy.ReverseProxy, 0.60},
	{"proxy", proxy.Weir, "cpu", proxy.Caddy, 0.45},
	{"proxy_long", proxy.Weir, "cpu", proxy.Nginx, 0.95},
	{"proxy_long", proxy.WeirOne, "one_event_cpu", proxy.Nginx, 0.90},
	{"proxy_long", proxy.Weir, "cpu", proxy.WeirBase, -1},
	{"proxy_long", proxy.Weir, "cpu", proxy.HAProxy, -1},
	{"proxy_long", proxy.Weir, "cpu", proxy.Caddy, -1},
	{"proxy_long_64_pipe", proxy.Weir, "cpu", proxy.Nginx, 0.95},
	{"proxy_long_64_off", proxy.WeirSilent, "cpu", proxy.Nginx, 0.85},
	{"proxy_long_1000_file", proxy.Weir, "cpu", proxy.Nginx, 0.80},
	{"proxy_long_1_file", proxy.Weir, "cpu", proxy.Nginx, 1.10},
	{"proxy_long_1_file", proxy.Weir, "p50", proxy.Nginx, 1.05},
	{"proxy_64_pipe", proxy.Weir, "cpu", proxy.Nginx, 1.00},
	{"proxy_64_pipe", proxy.WeirOne, "one_event_cpu", proxy.Nginx, 0.90},
	{"proxy_1000_file", proxy.Weir, "cpu", proxy.Nginx, 0.75},
	{"proxy_1_file", proxy.Weir, "cpu", proxy.Nginx, 1.10},
	{"proxy_1_file", proxy.Weir, "p50", proxy.Nginx, 1.10},
	{"proxy_fixed", proxy.Weir, "p99", proxy.Nginx, 1.00},
	{"proxy_response_16k", proxy.Weir, "cpu", proxy.Nginx, 1.10},
	{"proxy_response_1m", proxy.Weir, "cpu", proxy.Nginx, 1.10},
	{"proxy_upload_64k", proxy.Weir, "cpu", proxy.Nginx, 1.10},
	{"tls", proxy.Weir, "cpu", proxy.Nginx, 1.10},
	{"tls", proxy.WeirOne, "one_event_cpu", proxy.Nginx, -1},
	{"tls_handshake", proxy.Weir, "cpu", proxy.Nginx, 1.10},
	{"http2_off", proxy.WeirSilent, "cpu", proxy.Nginx, 2.00},
	{"http2", proxy.Weir, "cpu", proxy.Nginx, 2.00},
	{"http2", proxy.WeirOne, "one_event_cpu", proxy.Nginx, -1},
}

// figures are the functions that compute a row's figure for doorTargets.
var figures = map[string]func(doorRow) float64{
	"cpu":            medianCPU,
	"one_event_cpu":  medianCPU,
	"goroutines_cpu": medianCPU,
	"p50":            p50,
	"p99":            p99,
}

// resultNames shortens the names of doors for result lines.
var resultNames = strings.NewReplacer("httputil.", "", "weir, base build", "base")

// judgeDoors returns the result lines of a case.
func judgeDoors(c proxyCase, rows []doorRow) []fmt.Stringer {
	var results []fmt.Stringer
	for _, t := range doorTargets {
		weir, peer := find(rows, t.row), find(rows, t.door)
		if t.result != c.result || weir == nil || peer == nil {
			continue
		}
		figure := figures[t.figure]
		name := fmt.Sprintf("%s_%s_vs_%s", t.result, t.figure, resultNames.Replace(strings.ToLower(t.door)))
		results = append(results, ratioOf(name, figure(*weir)/figure(*peer), t.ratio))
	}
	weir := find(rows, proxy.Weir)
	if weir == nil {
		return results
	}
	switch {
	case c.Idle:
		results = append(results, figure{c.result + "_kib", weir.memory().Median(), 1},
			figure{c.result + "_cpu_ms", weir.idleCPU().Median(), mostIdleCPU})
	case c.always && !c.fixed:
		results = append(results, judgeMallocs(c.result, *weir))
	}
	return results
}

// mostIdleCPU is the CPU time in milliseconds that 4,000 idle connections may cost in five seconds: 0.1% of a
// processor. It is not 0 because two measurements of the same idle process differ.
const mostIdleCPU = 5

// judgeMallocs compares the number of Weir's allocations per request with 0. It considers one decimal place: smaller
// values are allocations per connection and of pools that the garbage collector has emptied.
func judgeMallocs(result string, weir doorRow) measure.Verdict {
	return measure.Verdict{Name: result + "_allocs", Ratio: -1, Allocs: math.Round(10*weir.mallocs().Median()) / 10,
		Bytes: -1, TargetRatio: -1, TargetBytes: -1}
}
