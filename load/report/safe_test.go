package report_test

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/weirhq/weir/load/report"
)

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// withoutColors removes sequences that set colours.
func withoutColors(s string) string { return sgr.ReplaceAllString(s, "") }

// steering returns the first character that could control a terminal.
func steering(s string) (rune, bool) {
	for _, r := range withoutColors(s) {
		if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r == 0xfffd {
			return r, true
		}
	}
	return 0, false
}

func TestTextSteersNoTerminal(t *testing.T) {
	r := hostileResult(t)
	for _, color := range []bool{false, true} {
		text := string(written(t, func(b *bytes.Buffer) error { return report.Text(b, r, report.Style{Color: color}) }))
		if c, bad := steering(text); bad {
			t.Errorf("color %v: text holds %q", color, c)
		}
		if color {
			continue
		}
		for i, c := range text {
			if c >= 0x7f || c == 0x1b {
				t.Fatalf("text without colours holds %q at %d, want ASCII", c, i)
			}
		}
	}
}
