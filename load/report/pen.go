package report

import (
	"strings"

	"github.com/weirhq/weir/internal/page"
)

// A screen is a text for a terminal that is being written.
type screen struct{ page.Text }

const indent = "  "

// The characters of small bars, from empty to full.
var (
	blocks = []rune(" ▁▂▃▄▅▆▇█")
	ascii  = []rune(" _.-=+*#@")
)

// sparkline draws values from 0 to most as bars of one character. A positive
// value is always visible, and a value above most is a full bar.
func sparkline(p page.Pen, values []float64, most float64) string {
	levels := ascii
	if p.Colored {
		levels = blocks
	}
	line := make([]rune, len(values))
	for i, v := range values {
		level := 0
		if v > 0 {
			level = max(1, int(min(v/most, 1)*float64(len(levels)-1)+0.5))
		}
		line[i] = levels[level]
	}
	return string(line)
}

// bar draws a share of width characters, to an eighth of one. A positive share
// is always visible.
func bar(p page.Pen, share float64, width int) string {
	if share <= 0 {
		return ""
	}
	eighths := max(1, int(share*float64(width)*8+0.5))
	if !p.Colored {
		return strings.Repeat("#", max(1, (eighths+4)/8))
	}
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}
