package main

import "strings"

// nearest returns the word that somebody may have meant by w: one that w
// begins with or that begins with w, or else the one that takes the fewest
// edits to become w. It is "" when every one takes more than two.
func nearest(w string, words []string) string {
	best, fewest := "", 3
	for _, word := range words {
		if short := min(len(w), len(word)); short >= 3 && w[:short] == word[:short] {
			return word
		}
		if n := edits(strings.ToLower(w), word); n < fewest && n < len(w) {
			best, fewest = word, n
		}
	}
	return best
}

// edits returns how many bytes have to be put in, taken out or replaced to
// turn a into b (the Levenshtein distance).
func edits(a, b string) int {
	row := make([]int, len(b)+1) // row[j]: from a[:i] to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
