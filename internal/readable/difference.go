package readable

import "strings"

// FirstDifference returns the number of the first line that differs, 0 for none,
// and what it is on each side.
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
