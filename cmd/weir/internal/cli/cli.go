// Package cli holds the parts that the verbs of the weir command share: exit
// codes, errors with a hint, output streams, report files and interrupts.
package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// Streams are the outputs of a verb.
type Streams struct {
	Out, Err *os.File
}

// IsTerminal reports whether f is a terminal. Any character device counts,
// except the null device.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// IsScreen reports whether f is a terminal that understands control sequences. With TERM=dumb
// it does not, as in the shells of editors.
func IsScreen(f *os.File) bool { return IsTerminal(f) && os.Getenv("TERM") != "dumb" }

// TerminalSize returns the size in characters, or 0, 0 if f is not a terminal.
func TerminalSize(f *os.File) (width, height int) {
	width, height, _ = term.GetSize(int(f.Fd())) // 0, 0 with an error
	return width, height
}

// PrintJSON writes an indented JSON document.
func PrintJSON[D any](w io.Writer, document D) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}

// DecodeNonempty decodes a text that must not be empty, such as an environment variable that is not set. An option
// without a value would otherwise be the same as no option.
func DecodeNonempty(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("string", &text); err != nil {
		return err
	}
	if text == "" {
		return errors.New("the value is empty")
	}
	target.SetString(text)
	return nil
}

// Buffered calls write with a buffered writer to out, and flushes it.
func Buffered(out io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(out, 64<<10)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
