package nearest

// Guess returns the word that the user may have meant by w: one that shares
// its first three or more letters with w, up to the end of the shorter word, or
// else the nearest one. It returns "" if none is near.
func Guess(w string, words []string) string {
	for _, word := range words {
		if short := min(len(w), len(word)); short >= 3 && w[:short] == word[:short] {
			return word
		}
	}
	return Word(w, words)
}
