package where

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Error is a mistake in a condition, or the failure of an operation on the
// values of an event.
type Error struct {
	Source string // the condition
	Offset int    // of the mistake in Source, in bytes
	Text   string
	Hint   string // how to write it; "" if there is none
}

func errorAt(offset int, hint, format string, args ...any) *Error {
	return &Error{Offset: offset, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Column returns the column of the mistake in its line, in characters from 1.
func (e *Error) Column() int {
	before := e.Source[:e.Offset]
	return utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// Error returns the text with the line of the condition and a mark below the
// mistake.
func (e *Error) Error() string {
	line := e.Source[strings.LastIndexByte(e.Source[:e.Offset], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	line = strings.Map(func(c rune) rune { // a character that is not printed moves the mark
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, line)
	return fmt.Sprintf("column %d: %s\n%s\n%*s", e.Column(), e.Text, line, e.Column(), "^")
}
