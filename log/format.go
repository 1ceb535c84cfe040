package log

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/weirhq/weir/log/internal/unwrap"
)

// A Format is one of the forms that an event's line can have; docs/format.md
// has them in full.
//
// A writer is a terminal if it is an *os.File that is one, or has a method
// Unwrap() io.Writer that returns one. [New] looks once, when the Logger is made.
type Format uint8

// The formats.
const (
	FormatJSON   Format = iota // JSON in shape v2, which is for new readers
	FormatJSONv1               // JSON as ONSdigital/log.go wrote it before 1.1.0: one error object, its message under "error"
	FormatLTSV                 // labelled tab-separated values, as tools for access logs read them
	FormatHuman                // for a terminal only; coloured if the writer is one and NO_COLOR is not set
	FormatAuto                 // FormatHuman if the writer is a terminal, otherwise FormatJSON
)

var formatNames = []string{"json", "json-v1", "ltsv", "human", "auto"}

// ParseFormat returns the format of that name: json, json-v1, ltsv, human or
// auto. Otherwise it returns FormatJSON and an error.
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

// autoFormat returns the format that FormatAuto means for w.
func autoFormat(w io.Writer) Format {
	if isTerminal(w) {
		return FormatHuman
	}
	return FormatJSON
}

// newEncoder returns the encoder of a format, and that of FormatJSON for an
// unknown one.
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

// isTerminal reports whether w or the file that it unwraps to is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := unwrap.First[*os.File](w)
	return ok && isCharDevice(file)
}

// isCharDevice reports whether the file is a character device other than the
// null device. The standard library knows no more of a terminal.
func isCharDevice(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
