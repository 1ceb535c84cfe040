package router

import (
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxExamples is the largest number of examples of a constraint, and maxExampleLength
// bounds their length: longer segments do not help the reader of a message.
const (
	maxExamples      = 24
	maxExampleLength = 256
)

// maxExampleTries bounds the search for examples of All.
const maxExampleTries = 4096

// anyExamples takes equally many examples of each part.
func anyExamples(parts []Constraint) []string {
	found := examplesInTurn(parts)
	return found[:min(len(found), maxExamples)]
}

// examplesInTurn returns the first example of each part, then the second of each, and
// so on, without duplicates.
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

// allExamples returns the examples of the parts that all parts accept, and then these
// examples changed to the lengths of the others: with a length of six, "v1" of v[0-9]+
// becomes "v11111". If both searches fail, All has no example, although it may accept
// some segments.
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

// ofLength returns strings of n characters, at least one, that resemble s: with its
// first character, its last one or all of it repeated, or with its end removed.
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

// lengthExamples returns segments of the smallest and the largest length, one of which
// is in every overlapping range of lengths.
func lengthExamples(least, most int) []string {
	least, most = max(least, 1), min(most, maxExampleLength) // parameters are not empty
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

// rangeExamples returns both ends, one of which is in every overlapping range, and
// numbers between them that other constraints may accept.
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

// regexpExamples returns strings that re, the anchored form of expr, matches, with the
// shortest choices first. It ignores \b and anchors within expr and returns only
// strings that re matches, so there may be none.
func regexpExamples(expr string, re *regexp.Regexp) []string {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	tree = tree.Simplify()
	var found []string
	for variant := range maxExamples {
		var b strings.Builder
		appendExample(&b, tree, variant)
		s := b.String()
		if s != "" && re.MatchString(s) && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}

// appendExample writes a string for re. The variant selects among alternatives; variant
// 0 takes the first and shortest.
func appendExample(b *strings.Builder, re *syntax.Regexp, variant int) {
	if b.Len() > maxExampleLength {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(runeOf(re.Rune, variant))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(likely[variant%len(likely)])
	case syntax.OpAlternate:
		n := len(re.Sub)
		appendExample(b, re.Sub[variant%n], variant/n)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			appendExample(b, sub, variant)
		}
	case syntax.OpStar, syntax.OpQuest:
		repeatExample(b, re.Sub[0], variant%2, variant/2)
	case syntax.OpPlus:
		repeatExample(b, re.Sub[0], 1+variant%3, variant/2)
	case syntax.OpRepeat:
		repeatExample(b, re.Sub[0], re.Min, variant)
	}
}

func repeatExample(b *strings.Builder, re *syntax.Regexp, times, variant int) {
	for range times {
		appendExample(b, re, variant)
	}
}

// likely are characters that many expressions accept, to reveal overlaps.
var likely = []rune("a1A-0b_.zZ9")

// runeOf returns a member of a class, which is a list of ranges: a likely character if
// the class has one, otherwise the start of a range.
func runeOf(class []rune, variant int) rune {
	var members []rune
	for _, r := range likely {
		for i := 0; i < len(class); i += 2 {
			if class[i] <= r && r <= class[i+1] {
				members = append(members, r)
			}
		}
	}
	for i := 0; i < len(class) && len(members) == 0; i += 2 {
		members = append(members, class[i])
	}
	if len(members) == 0 {
		return likely[0] // an empty class: the string will not match and is not used
	}
	return members[variant%len(members)]
}
