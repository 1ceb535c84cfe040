package cli

import (
	"errors"
	"strings"

	"github.com/alecthomas/kong"
)

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
