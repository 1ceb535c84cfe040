package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

func TestTextMatchesTheGoldenFiles(t *testing.T) {
	all := results(t)
	for _, c := range []struct {
		result string
		style  report.Style
	}{
		{"closed", report.Style{}},
		{"closed", report.Style{Width: 120, Color: true}},
		{"stalled", report.Style{Width: 80, Color: true}},
		{"stalled", report.Style{Width: 120}},
		{"refused", report.Style{}},
		{"outage", report.Style{}},
		{"outage", report.Style{Width: 120, Color: true}},
		{"one", report.Style{}},
		{"merged", report.Style{}},
		{"zero", report.Style{}},
	} {
		name := fmt.Sprintf("%s-%d-%v.txt", c.result, c.style.Width, c.style.Color)
		t.Run(name, func(t *testing.T) {
			golden(t, name, written(t, func(b *bytes.Buffer) error { return report.Text(b, all[c.result], c.style) }))
		})
	}
}

func TestTextKeepsItsWidth(t *testing.T) {
	for name, r := range results(t) {
		for _, width := range []int{76, 80, 120} {
			for _, color := range []bool{false, true} {
				text := written(t, func(b *bytes.Buffer) error {
					return report.Text(b, r, report.Style{Width: width, Color: color})
				})
				for i, line := range strings.Split(string(text), "\n") {
					if got := utf8.RuneCountInString(withoutColors(line)); got > width {
						t.Errorf("%s, color %v: line %d has %d characters, want at most %d: %q", name, color, i+1, got,
							width, line)
					}
				}
			}
		}
	}
}

// TestTextRatesAreOfWholeSeconds has seconds of an imprecise clock, and a last
// second that was cut short.
func TestTextRatesAreOfWholeSeconds(t *testing.T) {
	r := &load.Result{Series: []load.Second{
		{Start: 0, Seconds: 1.25, Requests: 1250, Bytes: 2500},
		{Start: 1.25, Seconds: 1, Requests: 1000, Bytes: 2000},
		{Start: 2.25, Seconds: 0.1, Requests: 5, Bytes: 1e9},
	}}
	text := string(written(t, func(b *bytes.Buffer) error { return report.Text(b, r, report.Style{}) }))
	for _, want := range []string{
		"responses       1,000    1,000    1,000    1,000    1,000        0    1,000\n",
		"read, kB         2.00     2.00     2.00     2.00     2.00        0     2.00\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant in it\n%s", text, want)
		}
	}
}

// The generator was only at its limit if it used a whole CPU.
func TestTextNamesTheLimit(t *testing.T) {
	for want, g := range map[string]load.Generator{
		"NOT TO BE TRUSTED: the machine was busy":           {Busy: 0.4, Waited: 0.18},
		"NOT TO BE TRUSTED: the generator was at its limit": {Busy: 0.96, Waited: 0.18},
	} {
		r := &load.Result{Saturated: true, DurationSeconds: 10, Generator: g}
		if text := written(t, func(b *bytes.Buffer) error {
			return report.Text(b, r,
				report.Style{})
		}); !bytes.Contains(text, []byte(want)) {
			t.Errorf("with %+v the text lacks %q:\n%s", g, want, text)
		}
	}
}
