package record

import (
	"errors"
	"fmt"
	"strings"
)

// What keeps a line from being an event.
var (
	errNeither = errors.New("neither a JSON object nor LTSV")
	errNoName  = errors.New(`no text "event"`)
	errNoTime  = errors.New(`no text "created_at"`)
)

// Parse reads one line, with or without its newline: a JSON object of either
// shape, or LTSV. It is an event when it has the texts "event" and
// "created_at", or in LTSV the labels event and time; all else may be missing.
// Anything else is an error.
//
// What LTSV does not say is taken so: a value that looks like a number, true,
// false, null, an array or {} is one, and any other a text; a label with dots
// is a key with dots. Writing it as LTSV again gives the same pairs.
//
// The Record keeps nothing of line.
func Parse(line []byte) (Record, error) {
	s := strings.TrimSuffix(string(line), "\n")
	trimmed := strings.TrimLeft(s, " \t\r")
	var r Record
	var err error
	switch {
	case strings.HasPrefix(trimmed, "{"):
		r, err = parseJSON(trimmed)
	case strings.Contains(s, ":"):
		r, err = parseLTSV(strings.TrimSuffix(s, "\r"))
	default:
		err = errNeither
	}
	if err != nil {
		return Record{}, fmt.Errorf("not an event: %w", err)
	}
	return r, nil
}
