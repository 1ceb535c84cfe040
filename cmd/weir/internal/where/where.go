package where

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirhq/weir/log/record"
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

// A Condition decides which events are chosen. It is for one goroutine at a time.
type Condition struct {
	source  string
	test    eval
	members []string
	env     env
}

// Compile returns the condition that source is, or an *[Error].
func Compile(source string) (*Condition, error) {
	e, err := parse(source)
	c := compiler{}
	var test eval
	if err == nil {
		test = c.truth(e)
		err = c.err
	}
	if err != nil {
		err.Source = source
		return nil, err
	}
	return &Condition{source: source, test: test, members: c.members, env: env{vars: make([]value, c.slots)}}, nil
}

// Members returns the members of an event that the condition uses, as
// [record.NewReader] takes them.
func (c *Condition) Members() []string { return c.members }

// Holds reports whether an event meets the condition. An *[Error] says that an
// operation failed for the values of the event.
func (c *Condition) Holds(r *record.Record) (bool, error) {
	c.env.record, c.env.err = r, nil
	holds := c.test(&c.env).isTrue()
	if err := c.env.err; err != nil {
		err.Source = c.source
		return false, err
	}
	return holds, nil
}
