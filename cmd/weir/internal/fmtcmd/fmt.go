// Package fmtcmd has the verb weir fmt, which gives configurations the canonical layout.
package fmtcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Command is weir fmt.
type Command struct {
	Files []string `arg:"" name:"file" help:"Configurations and the files that they include, or - for stdin."`
	Check bool     `help:"Write nothing, name the files that would change, and exit with 1 if there is one."`
	Diff  bool     `help:"Write nothing, and print the changes."`
}

// Help implements kong.HelpProvider.
func (Command) Help() string {
	return `Writes each file in the canonical layout and prints the names of the files that have changed. With -, it formats stdin
to stdout. The layout has two spaces for each level, and a line for each entry. A mapping or a list in brackets keeps
them if it fits on a line of 120 columns. Quotes stay where YAML needs them. Of empty lines in a row, one stays.

Values, comments, and the order of keys and entries stay the same. A file with mistakes of syntax is reported and stays
as it is; weir check finds other mistakes. Experiments of weir lab can be formatted too.

Examples:
  weir fmt weir.yaml routes/*.yaml
  weir fmt --check weir.yaml`
}

// Run formats the files.
func (c *Command) Run(s cli.Streams) error {
	problem := false
	for _, name := range c.Files {
		changed, err := c.format(s.Out, name)
		if err != nil {
			cli.PrintError(s.Err, err)
		}
		problem = problem || err != nil || changed && c.Check
	}
	if problem {
		return cli.ErrReported
	}
	return nil
}

// format formats a file and reports whether that changes it.
func (c *Command) format(stdout io.Writer, name string) (changed bool, err error) {
	src, err := read(name)
	if err != nil {
		return false, err
	}
	out, err := yamlfile.Reformat(name, "a configuration", src)
	if err != nil {
		return false, err
	}
	changed = !bytes.Equal(src, out)
	switch {
	case c.Diff && changed:
		_, err = io.WriteString(stdout, cli.PrintableLines(string(diff.Diff(name, src, name+" (formatted)", out))))
	case c.Check && changed:
		_, err = fmt.Fprintln(stdout, cli.Printable(name))
	case c.Diff || c.Check:
	case name == stdin:
		_, err = stdout.Write(out)
	case changed:
		if err = replace(name, out); err == nil {
			_, err = fmt.Fprintln(stdout, cli.Printable(name))
		}
	}
	return changed, err
}

// stdin is the name of stdin on the command line.
const stdin = "-"

func read(name string) ([]byte, error) {
	if name == stdin {
		return io.ReadAll(os.Stdin)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, cli.WithHint(errors.New(name+" is not a regular file"), "weir fmt - reads stdin and writes to stdout")
	}
	return os.ReadFile(name)
}
