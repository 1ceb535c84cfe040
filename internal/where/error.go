package where

import (
	"cmp"
	"errors"
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

// Error returns the text and its column in characters, with the line of the
// condition and a mark below the mistake.
func (e *Error) Error() string {
	start := strings.LastIndexByte(e.Source[:e.Offset], '\n') + 1
	column := utf8.RuneCountInString(e.Source[start:e.Offset]) + 1
	line, _, _ := strings.Cut(e.Source[start:], "\n")
	line = strings.Map(func(c rune) rune { // a character that is not printed moves the mark
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, line)
	return fmt.Sprintf("column %d: %s\n%s\n%*s", column, e.Text, line, column, "^")
}

// Advice returns how to write a condition for which [Compile] has returned an error.
func Advice(err error) string {
	hint := ""
	if e := (*Error)(nil); errors.As(err, &e) {
		hint = e.Hint
	}
	return cmp.Or(hint, "compare fields of the event, as in --where 'http.status_code >= 500 && http.duration > 250ms'")
}
