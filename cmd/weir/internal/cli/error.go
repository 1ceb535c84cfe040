package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/internal/readable"
)

// The exit codes.
const (
	ExitOK          = 0
	ExitProblem     = 1
	ExitMisuse      = 2
	ExitUnmeasured  = 3 // weir lab guard had nothing to compare
	ExitUndecided   = 4 // weir lab guard needs more time
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

// PrintError writes err and its hint.
func PrintError(w io.Writer, err error) {
	Say(w, "error: "+err.Error())
	var e *Error
	if errors.As(err, &e) && e.Hint != "" {
		Say(w, "hint: "+e.Hint)
	}
}

// Say writes a message. It may hold arguments, values of events, or texts of other machines: their
// control characters are escaped, and further lines are indented, so that none of them looks
// like another message.
func Say(w io.Writer, message string) { fmt.Fprintf(w, "weir: %s\n", Printable(message)) }

// Printable returns a text that changes no terminal, as in [Say].
func Printable(text string) string { return strings.ReplaceAll(PrintableLines(text), "\n", "\n  ") }

// PrintableLines returns a text of several lines that changes no terminal, without an indent.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = readable.Visible(line)
	}
	return strings.Join(lines, "\n")
}

// Exit prints the error that ended a verb, unless it was reported already, and
// returns the exit code for it.
func Exit(w io.Writer, err error) int {
	var e *Error
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case !errors.Is(err, ErrReported):
		PrintError(w, err)
	}
	if errors.As(err, &e) && e.Code != 0 {
		return e.Code
	}
	return ExitProblem
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
