package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weirhq/weir/lab/results"
)

// runsCSV writes a header with units and a row for each run, with all metrics
// of the lab and the runs' own measures. Missing values are empty.
func runsCSV(w io.Writer, r *results.Results) error {
	out := csv.NewWriter(w)
	metrics, own := results.Metrics(), ownMeasures(r)
	settings := variedSettings(r)
	header := []string{"run", "configuration", "repeat", "started", "seconds", "outcome"}
	for _, s := range settings {
		header = append(header, safe(s))
	}
	for _, m := range metrics {
		header = append(header, columnName(m.Name, m.Unit))
	}
	for _, m := range own {
		header = append(header, safe(columnName(m.Name, m.Unit)))
	}
	out.Write(append(header, "saturated", "error", "exit")) // an error remains until Error
	for i := range r.Runs {
		run := &r.Runs[i]
		row := []string{strconv.Itoa(run.Number), safe(run.Configuration), strconv.Itoa(run.Repeat),
			run.Started.UTC().Format("2006-01-02T15:04:05.000Z"), decimal(run.Seconds), safe(string(run.Outcome))}
		labels := labelsOf(r, run.Configuration)
		for _, s := range settings {
			row = append(row, safe(labels[s]))
		}
		for _, m := range metrics {
			row = append(row, optional(m.Of(run)))
		}
		for _, m := range own {
			row = append(row, optional(ownOf(run, m)))
		}
		row = append(row, strconv.FormatBool(run.Load != nil && run.Load.Saturated), safe(run.Error), safe(run.Exit))
		out.Write(row)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("report: the rows of %d runs: %w", len(r.Runs), err)
	}
	return nil
}

// An ownKey identifies a measure.
type ownKey struct{ Name, Unit string }

// ownMeasures returns the runs' own measures, in the order of their first
// occurrence.
func ownMeasures(r *results.Results) []ownKey {
	var keys []ownKey
	seen := map[ownKey]bool{}
	for i := range r.Runs {
		for _, m := range r.Runs[i].Own {
			if k := (ownKey{m.Name, m.Unit}); !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}

func ownOf(run *results.Run, k ownKey) (float64, bool) {
	for _, m := range run.Own {
		if m.Name == k.Name && m.Unit == k.Unit {
			return m.Value, true
		}
	}
	return 0, false
}

func variedSettings(r *results.Results) []string {
	var settings []string
	seen := map[string]bool{}
	for _, c := range r.Configurations {
		for _, l := range c.Labels {
			if !seen[l.Setting] {
				seen[l.Setting] = true
				settings = append(settings, l.Setting)
			}
		}
	}
	return settings
}

func labelsOf(r *results.Results, name string) map[string]string {
	labels := map[string]string{}
	for _, c := range r.Configurations {
		if c.Name == name {
			for _, l := range c.Labels {
				labels[l.Setting] = l.Value
			}
		}
	}
	return labels
}

// unitSuffixes are the ends of columns' names.
var unitSuffixes = map[string]string{"/s": "per_s", "bytes/s": "bytes_per_s", "CPUs": "cpus"}

// columnName returns a metric's name with its unit for a header:
// requests_per_second, latency_p99_us.
func columnName(name, unit string) string {
	column := strings.ReplaceAll(slug(name), "-", "_")
	suffix, ok := unitSuffixes[unit]
	if !ok {
		suffix = strings.Trim(strings.ReplaceAll(slug(strings.ReplaceAll(unit, "/", " per ")), "-", "_"), "_")
		if unit == "" {
			suffix = ""
		}
	}
	if suffix == "" || strings.HasSuffix(column, suffix) || unit == "/s" && strings.HasSuffix(column, "per_second") {
		return column
	}
	if unit == "bytes/s" && strings.HasSuffix(column, "bytes_per_second") {
		return column
	}
	return column + "_" + suffix
}

// samplesCSV writes a row for each sample of each run.
func samplesCSV(w io.Writer, r *results.Results) error {
	out := csv.NewWriter(w)
	out.Write([]string{ // an error remains until Error
		"run", "configuration", "at_s", "user_cpus", "system_cpus", "rss_bytes", "threads", "open_files",
		"context_switches_per_s",
		"log_bytes_per_s", "log_waiting_bytes", "heap_bytes", "goroutines", "gcs", "gc_pause_s",
	})
	row := make([]string, 15)
	n := 0
	for i := range r.Runs {
		run := &r.Runs[i]
		row[0], row[1] = strconv.Itoa(run.Number), safe(run.Configuration)
		for k := range run.Samples {
			sampleRow(row[2:], run, &run.Samples[k])
			out.Write(row)
		}
		n += len(run.Samples)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("report: the rows of %d samples: %w", n, err)
	}
	return nil
}

// sampleRow fills a row. The columns of Go services are empty for others, and so are those that the run lacks.
func sampleRow(row []string, run *results.Run, s *results.Sample) {
	for i, f := range []float64{s.At, s.User, s.System} {
		row[i] = decimal(f)
	}
	for i, n := range []int64{s.RSS, int64(s.Threads), int64(s.Files), s.Switches, s.Output, s.Behind} {
		row[3+i] = strconv.FormatInt(n, 10)
	}
	for i, p := range []results.Part{results.CPU, results.CPU, results.Memory, results.Threads, results.OpenFiles,
		results.Switches} {
		if run.Lacks(p) {
			row[1+i] = ""
		}
	}
	if s.Heap == 0 && s.Goroutines == 0 {
		clear(row[9:])
		return
	}
	row[9], row[10], row[11] = strconv.FormatInt(s.Heap, 10), strconv.Itoa(s.Goroutines), strconv.FormatInt(s.GCs, 10)
	row[12] = strconv.FormatFloat(s.Pause, 'g', -1, 64)
}

// safe prevents a spreadsheet from interpreting a text as a formula (OWASP, CSV
// injection). Such a text gets an apostrophe.
func safe(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

func optional(v float64, ok bool) string {
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// decimal formats at most six decimals.
func decimal(f float64) string {
	return strconv.FormatFloat(math.Round(f*1e6)/1e6, 'f', -1, 64)
}
