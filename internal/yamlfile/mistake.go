package yamlfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Mistake is one thing wrong with a file. What names the value that is wrong
// and Hint, which may be empty, says what to do about it; both fit on a line
// and hold nothing that a terminal would act on.
type Mistake struct {
	File string
	Line int // 1-based
	Col  int // 1-based, in characters; of the key or value that is wrong
	What string
	Hint string
}

func (m Mistake) Error() string {
	if m.Hint == "" {
		return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Col, m.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s; %s", m.File, m.Line, m.Col, m.What, m.Hint)
}

// Mistakes is everything wrong with a file, in the order of the file.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (ms Mistakes) Error() string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = m.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a single [Mistake].
func (ms Mistakes) Unwrap() []error {
	errs := make([]error, len(ms))
	for i, m := range ms {
		errs[i] = m
	}
	return errs
}

// sorted returns the mistakes in the order of the file; those at the same place
// stay in the order in which they were found.
func (ms Mistakes) sorted() Mistakes {
	ms = slices.Clone(ms)
	slices.SortStableFunc(ms, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return ms
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
