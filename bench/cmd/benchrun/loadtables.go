package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/weirhq/weir/bench/load"
	"github.com/weirhq/weir/bench/measure"
)

// loadRow is a generator with its costs, pass by pass.
type loadRow struct {
	load.Generator
	costs  []load.Cost
	failed error // a failed pass; for a peer it does not end the run
}

func (r *loadRow) add(c load.Cost, err error) {
	if err != nil {
		r.failed = err
		return
	}
	r.costs = append(r.costs, c)
}

func (r loadRow) series(of func(load.Cost) float64) measure.Series {
	return measure.SeriesOf(r.costs, of)
}

func (r loadRow) median(of func(load.Cost) float64) float64 { return r.series(of).Median() }

// The quantities of a pass in the tables. A missing duration is negative.
func perRequest(c load.Cost) float64   { return float64(c.PerRequest().Nanoseconds()) / 1e3 }
func perSecond(c load.Cost) float64    { return c.PerSecond() }
func peakMB(c load.Cost) float64       { return float64(c.PeakMemory()) / 1e6 }
func growthMB(c load.Cost) float64     { return float64(c.MemoryGrowth()) / 1e6 }
func failures(c load.Cost) float64     { return float64(c.Failed) }
func lag99(c load.Cost) float64        { return float64(c.Lag99.Nanoseconds()) / 1e3 }
func toldVariance(c load.Cost) float64 { return c.Report.Variance }

func (r loadRow) label() string {
	text := r.Name
	if r.Note != "" {
		text += " (" + r.Note + ")"
	}
	return text
}

func findLoad(rows []loadRow, name string) *loadRow {
	return measure.First(rows, func(r loadRow) bool { return r.Name == name && len(r.costs) > 0 })
}

// writeLoads writes a table with a line for each row, and the reasons for rows without figures.
func writeLoads(w io.Writer, c loadCase, rows []loadRow, head string, line func(r loadRow) string) error {
	fmt.Fprintln(w, c.Name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, head+"\t")
	for _, r := range rows {
		if len(r.costs) > 0 {
			fmt.Fprintf(t, "%s\t  %s\n", line(r), r.label())
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.failed != nil {
			fmt.Fprintf(w, "%s, a pass of %d: %v\n", r.Name, len(r.costs)+1, r.failed)
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// writeCosts writes the cost of a request.
func writeCosts(w io.Writer, c loadCase, rows []loadRow) error {
	floor, weir := findLoad(rows, load.Base), findLoad(rows, load.Weir)
	return writeLoads(w, c, rows, "CPU us/req\tspread\tto floor\tweir to it\treq/s\tMB\tfailed",
		func(r loadRow) string {
			cpu := r.series(perRequest)
			toFloor := "-"
			if floor != nil {
				toFloor = fmt.Sprintf("%.2f", cpu.Median()/floor.median(perRequest))
			}
			return fmt.Sprintf("%.2f\t%s\t%s\t%s\t%.0f\t%.1f\t%s", cpu.Median(), cpu.Spread(), toFloor, weirTo(weir, r),
				r.median(perSecond), r.median(peakMB), told(r.worst(failures), 0))
		})
}

// weirTo returns the ratio of Weir's CPU time to the row's, or "~" if the difference is not significant.
func weirTo(weir *loadRow, r loadRow) string {
	if weir == nil || r.Name == weir.Name {
		return "-"
	}
	return weir.series(perRequest).RatioTo(r.series(perRequest))
}

// worst returns the maximum over all passes.
func (r loadRow) worst(of func(load.Cost) float64) float64 { return slices.Max(r.series(of)) }

// told formats a figure, or a dash if it is missing.
func told(v float64, places int) string {
	if v < 0 || math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// rateOff returns the difference of the server's arrivals from the rate in percent.
func rateOff(rate float64) func(load.Cost) float64 {
	return func(c load.Cost) float64 { return 100 * math.Abs(c.PerSecond()-rate) / rate }
}

func seenVariance(rate float64) func(load.Cost) float64 {
	return func(c load.Cost) float64 { return c.Tally.Variance(rate) }
}

// writePaces writes the variance of arrivals.
func writePaces(w io.Writer, c loadCase, rows []loadRow) error {
	return writeLoads(w, c, rows, "req/s\trate off %\tvariance\tas told\tlag p99 us\tCPU us/req\tMB",
		func(r loadRow) string {
			return fmt.Sprintf("%.0f\t%.3f\t%.2f\t%s\t%s\t%.2f\t%.1f", r.median(perSecond), r.median(rateOff(c.Rate)),
				r.median(seenVariance(c.Rate)),
				told(r.median(toldVariance), 2), told(r.median(lag99), 1), r.median(perRequest), r.median(peakMB))
		})
}

// quantiles are the quantiles of the latencies.
var quantiles = []struct {
	name  string
	told  func(load.Report) time.Duration
	truth func(load.Truth) time.Duration
}{
	{"p50", func(r load.Report) time.Duration { return r.P50 }, func(t load.Truth) time.Duration { return t.P50 }},
	{"p99", func(r load.Report) time.Duration { return r.P99 }, func(t load.Truth) time.Duration { return t.P99 }},
	{"p999", func(r load.Report) time.Duration { return r.P999 }, func(t load.Truth) time.Duration { return t.P999 }},
	{"max", func(r load.Report) time.Duration { return r.Max }, func(t load.Truth) time.Duration { return t.Max }},
}

// writeTruth writes each generator's figures beside those of the server.
func writeTruth(w io.Writer, c loadCase, rows []loadRow) error {
	expected := c.Server.ExpectedTruth(c.Duration)
	if err := writeLoads(w, c, rows, "p50 ms\tp99 ms\tp99.9 ms\tmax ms\tconnections", func(r loadRow) string {
		var line string
		for _, q := range quantiles {
			line += told(r.median(func(c load.Cost) float64 { return milliseconds(q.told(c.Report)) }), 2) + "\t"
		}
		return line + told(r.median(func(c load.Cost) float64 { return float64(c.Connections) }), 0)
	}); err != nil {
		return err
	}
	fmt.Fprintf(w, "as the server and the rate have it: %s\n", truthText(expected))
	if weir := findLoad(rows, load.Weir); weir != nil {
		fmt.Fprintf(w, "as the server measured it with weir: %s\n", truthText(weir.costs[len(weir.costs)/2].Truth))
	}
	_, err := fmt.Fprintln(w)
	return err
}

func milliseconds(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return float64(d.Nanoseconds()) / 1e6
}

func truthText(t load.Truth) string {
	var text string
	for _, q := range quantiles {
		text += fmt.Sprintf("%s %.2f, ", q.name, milliseconds(q.truth(t)))
	}
	return text + fmt.Sprintf("of %d requests", t.Requests)
}

// writeMemory writes the resident memory.
func writeMemory(w io.Writer, c loadCase, rows []loadRow) error {
	return writeLoads(w, c, rows, "MB at most\tgrowth MB\treq/s\tCPU us/req", func(r loadRow) string {
		return fmt.Sprintf("%.1f\t%.1f\t%.0f\t%.2f", r.median(peakMB), r.median(growthMB), r.median(perSecond),
			r.median(perRequest))
	})
}
