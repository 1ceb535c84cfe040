package log

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/weirhq/weir/log/internal/unwrap"
	"github.com/weirhq/weir/log/record"
)

// A Format is the form of the lines. docs/format.md describes all of them.
//
// A writer is a terminal if it is an *os.File of a terminal, or has a method
// Unwrap() io.Writer that returns one. [New] checks this once.
type Format uint8

// The formats.
const (
	FormatJSON   Format = iota // JSON in shape v2, for new readers
	FormatJSONv1               // JSON as in ONSdigital/log.go before 1.1.0: one error object, with "error" as message
	FormatLTSV                 // labelled tab-separated values, for access log tools
	FormatHuman                // for a terminal; coloured if the writer is one, NO_COLOR is not set and TERM is not dumb
	FormatAuto                 // FormatHuman if the writer is a terminal, otherwise FormatJSON
)

var formatNames = []string{"json", "json-v1", "ltsv", "human", "auto"}

// ParseFormat returns the format with the given name: json, json-v1, ltsv,
// human or auto. Otherwise it returns FormatJSON and an error.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(formatNames, name); i >= 0 {
		return Format(i), nil
	}
	return FormatJSON, fmt.Errorf("unknown format %q: want one of %s", name, strings.Join(formatNames, ", "))
}

// String returns the name of the format, as [ParseFormat] accepts it.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// autoFormat returns the format that FormatAuto selects for w.
func autoFormat(w io.Writer) Format {
	if isTerminal(w) {
		return FormatHuman
	}
	return FormatJSON
}

// newEncoder returns the encoder of a format; an unknown one is FormatJSON.
func newEncoder(f Format, w io.Writer) encoder {
	switch f {
	case FormatJSONv1:
		return jsonEncoder{v1: true}
	case FormatLTSV:
		return ltsvEncoder{}
	case FormatHuman:
		return humanEncoder{color: isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	}
	return jsonEncoder{}
}

// isTerminal reports whether w is a terminal or unwraps to one.
func isTerminal(w io.Writer) bool {
	file, ok := unwrap.First[*os.File](w)
	return ok && isCharDevice(file)
}

// isCharDevice reports whether the file is a character device other than the
// null device. The standard library has no better test for a terminal.
func isCharDevice(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// A humanEncoder writes the human format. It encodes JSON, parses that and
// formats it: people read no faster if the code is faster.
type humanEncoder struct {
	jsonEncoder
	color bool
}

func (h humanEncoder) finish(e *openEvent) []byte {
	line := h.jsonEncoder.finish(e)
	r, err := record.Parse(line)
	if err != nil {
		return line // the JSON line is complete
	}
	e.human = r.AppendHuman(e.human[:0], record.HumanOptions{Color: h.color})
	return e.human
}
