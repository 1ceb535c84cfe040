package router

// nearest returns the word that takes the fewest edits to become w, or ""
// when every one takes more than two.
func nearest(w string, words []string) string {
	best, fewest := "", 3
	for _, word := range words {
		if n := edits(w, word); n < fewest {
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
