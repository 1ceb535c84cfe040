package yamlfile

import (
	"fmt"
	"strings"
	"unicode"
)

// A Mistake is one mistake in a file. What and Hint are one line each and
// contain no control characters.
type Mistake struct {
	File string
	Line int    // 1-based
	Col  int    // 1-based, in characters; of the wrong key or value
	What string // the problem, with the wrong value
	Hint string // how to correct it, or ""
}

func (m Mistake) Error() string {
	if m.Hint == "" {
		return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Col, m.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s; %s", m.File, m.Line, m.Col, m.What, m.Hint)
}

// Refusal is why a value is not what it should be, and what to do about it.
type Refusal struct {
	What, Hint string
	Offset     int // in bytes of the value's text; 0 is all of it
}

// Refuse returns a refusal whose What is formatted.
func Refuse(hint, format string, args ...any) *Refusal {
	return &Refusal{What: fmt.Sprintf(format, args...), Hint: hint}
}

// At returns the refusal as one of the text from offset on.
func (r *Refusal) At(offset int) *Refusal {
	r.Offset = offset
	return r
}

// Quote returns s as it may be printed to a terminal, cut when it is long.
func Quote(s string) string {
	const longest = 100
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// DidYouMean is the hint that another word was meant.
func DidYouMean(word string) string { return "did you mean " + Quote(word) + "?" }

// Printable replaces what a terminal might act on or a line cannot hold.
func Printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, s)
}
