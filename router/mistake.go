package router

import (
	"fmt"
	"strings"
)

// A Mistake describes a pattern that cannot be parsed or that conflicts with another
// one.
type Mistake struct {
	Entry   int    // index of the pattern's entry
	Pattern string // the pattern itself
	Offset  int    // byte offset of the mistake in Pattern; 0 for a conflict
	Problem string // the problem, without its position
	Hint    string // how to correct it, or ""

	// Other is the index of the entry that Entry conflicts with, or -1 if the pattern
	// cannot be parsed. Example is a request that both match, such as "GET /a/b". A
	// constraint without a known value is written as in the pattern: "GET
	// /a/{id:rule}".
	Other        int
	OtherPattern string
	Example      string
}

// Error returns a text with all fields except the indexes.
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

// A registerError is the value of a panic in a registration.
type registerError struct {
	text    string
	mistake *Mistake // nil if the pattern is not the problem
}

func registerErrorf(format string, args ...any) error {
	return &registerError{text: fmt.Sprintf(format, args...)}
}

func (e *registerError) Error() string { return "router: " + e.text }

// Unwrap makes the Mistake available to errors.As.
func (e *registerError) Unwrap() error {
	if e.mistake == nil {
		return nil
	}
	return e.mistake
}

// syntaxMistake returns the Mistake of a pattern that cannot be parsed.
func syntaxMistake(offset int, format string, args ...any) *Mistake {
	return &Mistake{Offset: offset, Other: -1, Problem: fmt.Sprintf(format, args...)}
}

// hint sets the hint.
func (m *Mistake) hint(format string, args ...any) *Mistake {
	m.Hint = fmt.Sprintf(format, args...)
	return m
}
