package router

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How many examples a constraint has at most, and how long one may be: what is
// longer than any segment worth naming in a message does not help a reader.
const (
	maxExamples      = 24
	maxExampleLength = 256
)

// maxExampleTries bounds the work of looking for what All accepts.
const maxExampleTries = 4096

// anyExamples shares the room among the parts.
func anyExamples(parts []Constraint) []string {
	found := examplesInTurn(parts)
	return found[:min(len(found), maxExamples)]
}

// examplesInTurn returns the first example of each part, then the second of
// each, and so on, none of them twice.
func examplesInTurn(parts []Constraint) []string {
	var found []string
	for i := range maxExamples {
		for _, c := range parts {
			if i < len(c.examples) && !slices.Contains(found, c.examples[i]) {
				found = append(found, c.examples[i])
			}
		}
	}
	return found
}

// allExamples returns those examples of the parts that all of them accept,
// and then the same made as long as other examples are: "v1" shows what a
// length of six leaves of v[0-9]+ when it has grown to "v11111". What is found
// in neither way stays unknown; All may have no example and accept something
// all the same.
func allExamples(parts []Constraint, accepts func(string) bool) []string {
	candidates := examplesInTurn(parts)
	var found []string
	tries := 0
	try := func(s string) {
		if tries++; tries <= maxExampleTries && len(found) < maxExamples && accepts(s) && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	for _, s := range candidates {
		try(s)
	}
	lengths := lengthsOf(candidates)
	for _, s := range candidates {
		for _, n := range lengths {
			for _, fitted := range ofLength(s, n) {
				try(fitted)
			}
		}
	}
	return found
}

func lengthsOf(list []string) []int {
	var lengths []int
	for _, s := range list {
		lengths = append(lengths, utf8.RuneCountInString(s))
	}
	slices.Sort(lengths)
	return slices.Compact(lengths)
}

// ofLength returns strings of n characters, one or more, that are like s: with its
// first character, its last one or all of it repeated as often as needed, or
// with its end cut off.
func ofLength(s string, n int) []string {
	runes := []rune(s)
	more := n - len(runes)
	if more <= 0 {
		return []string{string(runes[:n])}
	}
	first, last := string(runes[0]), string(runes[len(runes)-1])
	whole := []rune(strings.Repeat(s, n/len(runes)+1))
	return []string{strings.Repeat(first, more) + s, s + strings.Repeat(last, more), string(whole[:n])}
}

// lengthExamples returns segments of the least length and of the greatest,
// one of which any other range of lengths that overlaps has too.
func lengthExamples(least, most int) []string {
	least, most = max(least, 1), min(most, maxExampleLength) // no parameter is empty
	var found []string
	for _, n := range slices.Compact([]int{least, most, least + (most-least)/2}) {
		for _, s := range []string{"a", "1", "A"} {
			if s = strings.Repeat(s, max(n, 0)); least <= n && n <= most && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}

// rangeExamples returns both ends, one of which lies in any other range that
// overlaps, and numbers in between that other constraints may accept.
func rangeExamples(least, most int64) []string {
	candidates := []int64{least, most, 1, 0, -1, 42, 2024}
	for n := int64(10); n <= math.MaxInt64/10; n *= 10 {
		candidates = append(candidates, n)
	}
	var found []string
	for _, n := range candidates {
		s := strconv.FormatInt(n, 10)
		if least <= n && n <= most && len(found) < maxExamples && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}
