package main

import "github.com/weirhq/weir/internal/nearest"

// likely returns the word that somebody may have meant by w: one that w begins
// with or that begins with w, or else the nearest. It is "" when none is near.
func likely(w string, words []string) string {
	for _, word := range words {
		if short := min(len(w), len(word)); short >= 3 && w[:short] == word[:short] {
			return word
		}
	}
	return nearest.Word(w, words)
}
