package report_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/internal/hdr"
	"github.com/weirhq/weir/load/report"
)

// TestHDRMatchesTheHistogram parses the lines and compares them with the histogram.
func TestHDRMatchesTheHistogram(t *testing.T) {
	for name, r := range results(t) {
		lines := strings.Split(string(written(t, func(b *bytes.Buffer) error { return report.HDR(b, r) })), "\n")
		if got, want := strings.Join(strings.Fields(lines[0]), " "),
			"Value Percentile TotalCount 1/(1-Percentile)"; got != want || lines[1] != "" {
			t.Errorf("%s: it begins with %q and %q, want %q and an empty line", name, got, lines[1], want)
		}
		l := r.LatencyFromDue
		if l == nil {
			l = r.Latency
		}
		if l == nil {
			continue
		}
		h, err := hdr.Decode(l.Histogram)
		if err != nil {
			t.Fatal(err)
		}
		var value, quantile float64
		var n int64
		var inverse string
		for _, line := range lines[2:] {
			if strings.HasPrefix(line, "#") {
				break
			}
			before, beforeN := value, n
			if _, err := fmt.Sscan(line, &value, &quantile, &n, &inverse); err != nil {
				t.Fatalf("%s: line %q: %v", name, line, err)
			}
			if value < before || n < beforeN {
				t.Errorf("%s: line %q is less than the one before", name, line)
			}
			if share := float64(n) / float64(l.Count); share < quantile-1e-12 {
				t.Errorf("%s: line %q counts %g of the samples, want as many as it says", name, line, share)
			}
			if want := float64(h.At(n)) / 1e6; value < want*.998 || value > want*1.002 {
				t.Errorf("%s: line %q: got %g ms, want %g", name, line, value, want)
			}
		}
		reached := l.Count - l.NeverAnswered
		if end := float64(reached) / float64(l.Count); n != reached || math.Abs(quantile-end) > 1e-12 ||
			(inverse == "inf") != (end == 1) {
			t.Errorf("%s: the last line has %d samples at %g (%s), want %d at %g", name, n, quantile, inverse, reached,
				end)
		}
		footer := []string{"#[Mean    =", "#[Max     =", "#[Buckets ="}
		if l.GivenUp+l.NeverAnswered > 0 {
			footer = append(footer, fmt.Sprintf("#[Given up = %11d, Never answered = %12d]", l.GivenUp,
				l.NeverAnswered))
		}
		last := lines[len(lines)-1-len(footer):]
		for i, want := range footer {
			if !strings.HasPrefix(last[i], want) {
				t.Errorf("%s: line %d of the footer is %q, want %s", name, i+1, last[i], want)
			}
		}
		if want := fmt.Sprintf("Total count    = %12d]", reached); !strings.HasSuffix(last[1], want) {
			t.Errorf("%s: the footer has %q, want %s", name, last[1], want)
		}
	}
}

func TestHDRNeedsAHistogram(t *testing.T) {
	r := &load.Result{Latency: &load.Latency{Count: 3}}
	if err := report.HDR(&bytes.Buffer{}, r); err == nil || !strings.Contains(err.Error(), "no histogram") {
		t.Errorf("error %v, want one that says that there is no histogram", err)
	}
}
