package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/internal/nearest"
)

// The exit codes.
const (
	ExitOK          = 0
	ExitProblem     = 1
	ExitMisuse      = 2
	ExitInterrupted = 130
)

var (
	// ErrReported ends a verb that has printed its error or finding itself.
	ErrReported = errors.New("already reported")
	// ErrInterrupted ends a verb that a signal stopped before its work was complete.
	ErrInterrupted = errors.New("interrupted")
)

// An Error is an error with a hint for the user.
type Error struct {
	Err  error
	Hint string
	Code int // exit code; 0 means ExitProblem
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// WithHint returns err with a hint and ExitProblem.
func WithHint(err error, hint string) error { return &Error{Err: err, Hint: hint} }

// Misuse returns err with a hint and ExitMisuse: the command was used wrongly.
func Misuse(err error, hint string) error { return &Error{Err: err, Hint: hint, Code: ExitMisuse} }

// PrintError writes err and its hint, a line each.
func PrintError(w io.Writer, err error) {
	fmt.Fprintf(w, "weir: error: %v\n", err)
	var e *Error
	if errors.As(err, &e) && e.Hint != "" {
		fmt.Fprintf(w, "weir: hint: %s\n", e.Hint)
	}
}

// Exit prints the error that ended a verb, unless it was reported already, and
// returns the exit code for it.
func Exit(w io.Writer, err error) int {
	var e *Error
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrReported):
		return ExitProblem
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	}
	PrintError(w, err)
	if errors.As(err, &e) && e.Code != 0 {
		return e.Code
	}
	return ExitProblem
}

// Suggest returns the word that the user may have meant by w: one that shares
// its first three or more letters with w, up to the end of the shorter word, or
// else the nearest one. It returns "" if none is near.
func Suggest(w string, words []string) string {
	for _, word := range words {
		if short := min(len(w), len(word)); short >= 3 && w[:short] == word[:short] {
			return word
		}
	}
	return nearest.Word(w, words)
}

// A UsageError describes a command line that kong rejected.
type UsageError struct {
	error
	Command            string   // the verb as far as it was recognized, such as "weir load"
	UnknownFlag        string   // such as "-t"; "" if the error is another one
	InvalidFlag        string   // a flag whose value is missing or malformed, such as "--duration"
	UnexpectedArgument bool     // there is one argument too many
	Arguments          []string // names of the positional arguments before the error
}

// ParseUsageError describes an error of kong's parser. kong has no types for
// its errors: no other function may compare their texts.
func ParseUsageError(err error) UsageError {
	u := UsageError{error: err, Command: "weir"}
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		if selected := parse.Context.Selected(); selected != nil {
			u.Command = selected.FullPath()
		}
		for _, at := range parse.Context.Path {
			if at.Positional != nil {
				u.Arguments = append(u.Arguments, at.Positional.Name)
			}
		}
	}
	text, _, _ := strings.Cut(err.Error(), ",") // before the guesses: ", did you mean ..."
	if flag, ok := strings.CutPrefix(text, "unknown flag "); ok {
		u.UnknownFlag = flag
	} else if flag, _, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(flag, "--") {
		u.InvalidFlag = flag
	}
	u.UnexpectedArgument = strings.HasPrefix(text, "unexpected argument ")
	return u
}
