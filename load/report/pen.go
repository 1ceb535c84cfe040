package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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
	return escape(s, func(r rune) string {
		switch {
		case r >= ' ' && r <= '~', p.color && (r == 'µ' || r == '…'):
			return string(r)
		case r == 'µ':
			return "u"
		case r == '…':
			return "..."
		}
		return ""
	})
}

// visible returns s with what cannot be seen, or turns the text around it, as
// escapes.
func visible(s string) string {
	return escape(s, func(r rune) string {
		if strconv.IsPrint(r) {
			return string(r)
		}
		return ""
	})
}

// escape writes each character of s as spelled does, or as Go does in a string
// when that is "".
func escape(s string, spelled func(rune) string) string {
	var b strings.Builder
	for i, r := range s {
		if text := spelled(r); text != "" && !(r == utf8.RuneError && s[i] != "\uFFFD"[0]) {
			b.WriteString(text)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		if r == utf8.RuneError && s[i] != "\uFFFD"[0] { // a byte that is no UTF-8
			quoted = fmt.Sprintf(`'\x%02x'`, s[i])
		}
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// wrap breaks a text into lines of at most width characters, at spaces where it
// can. There is always one.
func wrap(s string, width int) []string {
	width = max(width, 8)
	var lines []string
	line := []rune(s)
	for len(line) > width {
		at := width
		for i := width; i > width/2; i-- {
			if line[i] == ' ' {
				at = i
				break
			}
		}
		lines = append(lines, string(line[:at]))
		line = []rune(strings.TrimLeft(string(line[at:]), " "))
	}
	return append(lines, string(line))
}

// The heights of a small bar, from nothing to full.
var (
	blocks = []rune(" ▁▂▃▄▅▆▇█")
	ascii  = []rune(" _.-=+*#@")
)

// sparkline draws values from 0 to most as bars of a character each. What is
// above 0 shows.
func (p pen) sparkline(values []float64, most float64) string {
	levels := ascii
	if p.color {
		levels = blocks
	}
	line := make([]rune, len(values))
	for i, v := range values {
		level := 0
		if v > 0 {
			level = min(max(1, int(v/most*float64(len(levels)-1)+0.5)), len(levels)-1)
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
