// Package nearest suggests corrections for misspelt words.
package nearest

import (
	"strings"
	"unicode/utf8"
)

// Word returns the word that is most similar to a misspelt one, or "" if none
// is similar enough. The first of equally similar words wins.
func Word(misspelt string, words []string) string {
	const longest = 64 // bytes; limits the time of a comparison
	if len(misspelt) > longest {
		return ""
	}
	best, bestDistance := "", 2+utf8.RuneCountInString(misspelt)/3
	for _, word := range words {
		if len(word) > longest {
			continue
		}
		if d := distance(strings.ToLower(misspelt), strings.ToLower(word)); d < bestDistance {
			best, bestDistance = word, d
		}
	}
	return best
}

// distance returns the number of letters to insert, delete, replace or swap
// with their neighbour to get from a to b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	// Row i of the table contains the distances from the first i letters of a.
	// A swap uses the row before the last.
	before, last := make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i := range from {
		row := make([]int, len(to)+1)
		row[0] = i + 1
		for j := range to {
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+differ(from[i], to[j]))
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(to)]
}

func differ(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}
