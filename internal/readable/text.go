package readable

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Visible returns s with escapes for characters that are invisible or change
// the direction of text.
func Visible(s string) string {
	return Escape(s, func(r rune) string {
		if strconv.IsPrint(r) {
			return string(r)
		}
		return ""
	})
}

// Escape replaces each character of s by the result of spelled, or by a Go
// escape if that is "".
func Escape(s string, spelled func(rune) string) string {
	var b strings.Builder
	for i, r := range s {
		if text := spelled(r); text != "" && !(r == utf8.RuneError && s[i] != "\uFFFD"[0]) {
			b.WriteString(text)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		if r == utf8.RuneError && s[i] != "\uFFFD"[0] { // an invalid byte
			quoted = fmt.Sprintf(`'\x%02x'`, s[i])
		}
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Wrap breaks a text into lines of at most width characters, at spaces where
// possible. It returns at least one line.
func Wrap(s string, width int) []string {
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

// Fit shortens a text to at most width characters. The last one shows that it was longer.
func Fit(s string, width int) string {
	runes := []rune(s)
	switch {
	case len(runes) <= width:
		return s
	case width <= 0:
		return ""
	}
	return string(runes[:width-1]) + "…"
}

// Enumerate joins parts as in "a, b and c".
func Enumerate(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// Clip shortens a text that is too long to read, and adds the number of omitted
// bytes.
func Clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("… (%s more)", Things(int64(len(s)-most), "byte"))
}

// FirstDifference returns the number of the first line that differs and its
// text on both sides. The number is 0 if there is none.
func FirstDifference(a, b string) (line int, sa, sb string) {
	if a == b {
		return 0, "", ""
	}
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(la), len(lb)) {
		sa, sb = at(la, i), at(lb, i)
		if sa != sb || i >= len(la) || i >= len(lb) {
			return i + 1, sa, sb
		}
	}
	return 0, "", ""
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
