package report

import (
	"strings"

	"github.com/weirhq/weir/internal/readable"
)

// A pen writes for a terminal, in colours and Unicode, or in plain ASCII.
type pen struct{ color bool }

// A color is what stands between the brackets of an SGR sequence.
type color string

const (
	plain      color = ""
	bold       color = "1"
	dim        color = "2"
	red        color = "31"
	green      color = "32"
	yellow     color = "33"
	magenta    color = "35"
	cyan       color = "36"
	boldYellow color = "1;33"
)

func (p pen) paint(c color, s string) string {
	if !p.color || c == plain || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// clean returns s in characters that take one place each and steer nothing:
// printable ASCII and the few others that this package writes itself, which are
// spelled in ASCII when there is to be no other. The rest stands as escapes.
func (p pen) clean(s string) string {
	return readable.Escape(s, func(r rune) string {
		switch {
		case r >= ' ' && r <= '~', p.color && strings.ContainsRune("µ…≥", r):
			return string(r)
		case r == 'µ':
			return "u"
		case r == '…':
			return "..."
		case r == '≥':
			return ">"
		}
		return ""
	})
}

// The heights of a small bar, from nothing to full.
var (
	blocks = []rune(" ▁▂▃▄▅▆▇█")
	ascii  = []rune(" _.-=+*#@")
)

// sparkline draws values from 0 to most as bars of a character each. A value above 0 shows, and one
// above most, which is infinite, is a full bar.
func (p pen) sparkline(values []float64, most float64) string {
	levels := ascii
	if p.color {
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

// bar draws a share of width characters, to an eighth of one. What is above 0
// shows.
func (p pen) bar(share float64, width int) string {
	if share <= 0 {
		return ""
	}
	eighths := max(1, int(share*float64(width)*8+0.5))
	if !p.color {
		return strings.Repeat("#", max(1, (eighths+4)/8))
	}
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}
