package log

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A Format is one of the forms that an event's line can have; docs/format.md
// has them in full.
type Format uint8

// The formats.
const (
	FormatJSON   Format = iota // JSON in shape v2, which is for new readers
	FormatJSONv1               // JSON as ONSdigital/log.go wrote it before 1.1.0: one error object, its message under "error"
	FormatLTSV                 // labelled tab-separated values, as tools for access logs read them
	FormatHuman                // for a terminal, and for that alone; coloured if the writer is one, or has an Unwrap() io.Writer that is
)

var formatNames = []string{"json", "json-v1", "ltsv", "human"}

// ParseFormat returns the format of that name: json, json-v1, ltsv or human.
// Otherwise it returns FormatJSON and an error.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(formatNames, name); i >= 0 {
		return Format(i), nil
	}
	return FormatJSON, fmt.Errorf("unknown format %q: want one of %s", name, strings.Join(formatNames, ", "))
}

// String returns the name that [ParseFormat] takes.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// newEncoder returns the encoder of a format; of FormatJSON for what is none.
func newEncoder(f Format, w io.Writer) encoder {
	switch f {
	case FormatJSONv1:
		return jsonEncoder{v1: true}
	case FormatLTSV:
		return ltsvEncoder{}
	case FormatHuman:
		return humanEncoder{color: isTerminal(w) && os.Getenv("NO_COLOR") == ""}
	}
	return jsonEncoder{}
}

// isTerminal reports whether w is one, or stands before one, as far as the
// standard library knows: a character device, of which only /dev/null is likely
// to be another.
func isTerminal(w io.Writer) bool {
	const mostLayers = 10 // one that unwraps to itself has no end
	for range mostLayers {
		switch layer := w.(type) {
		case *os.File:
			info, err := layer.Stat()
			return err == nil && info.Mode()&os.ModeCharDevice != 0
		case interface{ Unwrap() io.Writer }:
			w = layer.Unwrap()
		default:
			return false
		}
	}
	return false
}
