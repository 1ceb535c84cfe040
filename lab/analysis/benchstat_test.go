package analysis_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchmath"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// TestStatisticsAgreeWithBenchstat compares two sessions with benchstat's output for the same values.
func TestStatisticsAgreeWithBenchstat(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 1))
	type pair struct{ base, x []float64 }
	pairs := map[string]pair{
		"Equal":    {[]float64{7, 7, 7, 7, 7, 7}, []float64{7, 7, 7, 7, 7, 7}},
		"Two":      {[]float64{1, 2}, []float64{3, 4}},
		"Alone":    {[]float64{5}, []float64{6}},
		"Negative": {[]float64{-5, -4, -3, 2, 3, 4}, []float64{-6, 1, 2, 3, 4, 5}},
		"Zero":     {[]float64{0, 0, 0, 0, 0, 0}, []float64{1, 2, 3, 4, 5, 6}},
	}
	for i := range 30 {
		n, m := 3+random.IntN(20), 3+random.IntN(20)
		p := pair{around(uint64(i), n, 100, 0.05), around(uint64(100+i), m, 100*(1+0.02*float64(i%4)), 0.05)}
		if i%3 == 0 { // counts, many of them equal
			for _, values := range [][]float64{p.base, p.x} {
				for j := range values {
					values[j] = math.Round(values[j])
				}
			}
		}
		pairs[fmt.Sprint("Random", i)] = p
	}
	var a, b strings.Builder
	for name, p := range pairs {
		for _, side := range []struct {
			to     *strings.Builder
			values []float64
		}{{&a, p.base}, {&b, p.x}} {
			for _, v := range side.values {
				fmt.Fprintf(side.to, "Benchmark%s 1 %v cost\n", name, v)
			}
		}
	}
	rows := benchstat(t, a.String(), b.String())
	if len(rows) != len(pairs) {
		t.Fatalf("benchstat has %d rows, want %d", len(rows), len(pairs))
	}
	for name, p := range pairs {
		row := rows[name]
		side := func(values []float64) *results.Results {
			return ownMeasures(closedLoop(series{null, values}), "cost", "", "")
		}
		m := analysis.Compare(side(p.base), side(p.x)).Metrics[0].Rows[0]
		got := []string{fmt.Sprint(m.A.Median), spread(&m.A), fmt.Sprint(m.B.Median), spread(&m.B),
			delta(&m.Versus, m.A.Median == m.B.Median),
			benchmath.Comparison{P: *m.Versus.P, N1: len(p.base), N2: len(p.x)}.String()}
		if strings.Join(got, " ") != strings.Join(row, " ") {
			t.Errorf("%s: the analysis has %q, benchstat %q", name, got, row)
		}
	}
}

// spread formats an interval like benchstat.
func spread(r *analysis.Summary) string {
	s := benchmath.Summary{Center: r.Median, Lo: math.Inf(-1), Hi: math.Inf(1)}
	if r.Interval != nil {
		s.Lo, s.Hi = r.Interval.Low, r.Interval.High
	}
	return s.PctRangeString()
}

// delta formats a ratio like benchstat, which decides by p only and does not
// correct it.
func delta(d *analysis.Difference, same bool) string {
	switch {
	case *d.P > 0.05:
		return "~"
	case same:
		return "0.00%"
	case d.Ratio == nil:
		return "?"
	}
	return fmt.Sprintf("%+.2f%%", (*d.Ratio-1)*100)
}

// benchstat returns benchstat's table of two files by benchmark.
func benchstat(t *testing.T, a, b string) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"run", "golang.org/x/perf/cmd/benchstat", "-format", "csv"}
	for name, text := range map[string]string{"a": a, "b": b} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, filepath.Join(dir, "a"), filepath.Join(dir, "b"))...)
	var stderr strings.Builder
	cmd.Stderr = &stderr // includes warnings
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, &stderr)
	}
	reader := csv.NewReader(strings.NewReader(string(out)))
	reader.FieldsPerRecord = -1
	all, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, row := range all {
		if len(row) == 7 && row[0] != "" && row[0] != "geomean" {
			rows[row[0]] = row[1:]
		}
	}
	return rows
}
