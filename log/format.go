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

// An encoder is one form of the event's line. It decides on what stands around
// the fields; the fields themselves are written by the methods of Event, which
// know two notations, that of JSON and that of LTSV, since a call through an
// interface for each of them would cost as much as writing it.
//
// Encoders have no state: what varies is in the Event.
type encoder interface {
	// notation tells in which of the two fields are written.
	notation() notation

	// front returns what the line begins with, created_at as it mostly is, for
	// some instant: room of that length is kept for it.
	front() string

	// appendNamespace appends what follows in each line of a logger, up to
	// where the name of the event is appended. In LTSV the level stands before
	// it.
	appendNamespace(b []byte, namespace string) []byte

	// appendError adds one error to e.errorList.
	appendError(e *openEvent, f failure)

	// finish completes the line in e.buf and returns it, cut to e.maxBytes.
	finish(e *openEvent) []byte
}

// A notation is how keys and values are written.
type notation uint8

const (
	notationJSON notation = iota
	notationLTSV
)

// A humanEncoder writes for people, who do not read faster when it is made
// faster: it makes JSON and has that read back and shown.
type humanEncoder struct {
	jsonEncoder
	color bool
}

func (h humanEncoder) finish(e *openEvent) []byte {
	line := h.jsonEncoder.finish(e)
	r, err := record.Parse(line)
	if err != nil {
		return line // which is whole, whatever the reader thinks of it
	}
	e.human = r.AppendHuman(e.human[:0], record.HumanOptions{Color: h.color})
	return e.human
}
