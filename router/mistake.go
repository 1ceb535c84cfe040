package router

import (
	"fmt"
	"strings"
)

// A Mistake is what is wrong with one pattern: either it cannot be read, or
// it conflicts with another pattern.
type Mistake struct {
	Entry   int    // index of the pattern's entry
	Pattern string // the pattern itself
	Offset  int    // byte of Pattern at which the mistake stands; 0 for a conflict
	Problem string // what is wrong, without saying where
	Hint    string // what to write instead, or ""

	// Other is the index of the entry that Entry conflicts with, and -1 when
	// the pattern cannot be read. Example is then a request that both match,
	// such as "GET /a/b". A constraint of which no value is known stands in
	// it as in a pattern: "GET /a/{id:rule}".
	Other        int
	OtherPattern string
	Example      string
}

// Error says everything the fields say but the indexes.
func (m *Mistake) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pattern %q: ", m.Pattern)
	if m.Other < 0 {
		fmt.Fprintf(&b, "at offset %d: ", m.Offset)
	}
	b.WriteString(m.Problem)
	if m.Hint != "" {
		b.WriteString("; " + m.Hint)
	}
	return b.String()
}

// A refusal is the value that a registration panics with.
type registerError struct {
	text    string
	mistake *Mistake // nil: the pattern is not the problem
}

func registerErrorf(format string, args ...any) error {
	return &registerError{text: fmt.Sprintf(format, args...)}
}

func (e *registerError) Error() string { return "router: " + e.text }

// Unwrap makes the Mistake visible to errors.As.
func (e *registerError) Unwrap() error {
	if e.mistake == nil {
		return nil
	}
	return e.mistake
}

// unreadable returns the mistake of a pattern that cannot be read.
func syntaxMistake(offset int, format string, args ...any) *Mistake {
	return &Mistake{Offset: offset, Other: -1, Problem: fmt.Sprintf(format, args...)}
}

// hint adds what to write instead.
func (m *Mistake) hint(format string, args ...any) *Mistake {
	m.Hint = fmt.Sprintf(format, args...)
	return m
}
