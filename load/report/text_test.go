package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirhq/weir/load/report"
)

func TestText(t *testing.T) {
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
		{"one", report.Style{}},
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
						t.Errorf("%s, color %v: line %d has %d characters, want at most %d: %q", name, color, i+1, got, width, line)
					}
				}
			}
		}
	}
}
