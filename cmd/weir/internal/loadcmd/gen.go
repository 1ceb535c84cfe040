package loadcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load/gen"
)

type genCommand struct {
	CSV   genCSVCommand   `cmd:"" name:"csv" help:"Write a table of made-up data."`
	Bytes genBytesCommand `cmd:"" help:"Write printable bytes."`
}

type genCSVCommand struct {
	Rows    int      `default:"1000" placeholder:"N" help:"Write N rows below the heading (default ${default})."`
	Columns []string `placeholder:"NAME,..." help:"Which columns: id, uuid, name, email, date, amount and text, which are all unless given."`
	Width   int      `default:"40" placeholder:"BYTES" help:"Have texts of BYTES at most (default ${default})."`
	Seed    uint64   `placeholder:"N" help:"Make other data: the same N makes the same (default 0)."`

	NoHeader bool `help:"Leave out the line with the columns' names, as a file of {{line}} needs it."`
}

// Help implements kong.HelpProvider.
func (genCSVCommand) Help() string {
	return `Writes CSV to stdout while it makes it, with quotes, apostrophes, line breaks and letters beyond ASCII where real data has them.

Examples:
  weir load gen csv --rows 50000 > table.csv
  weir load --body @table.csv -H 'Content-Type: text/csv' URL
  weir load gen csv --rows 100 --columns email --no-header > users.txt
  weir load 'http://127.0.0.1:8080/users/{{line "users.txt"}}'`
}

// Run writes the table.
func (c *genCSVCommand) Run(s cli.Streams) error {
	misuse := func(format string, args ...any) error {
		return cli.Misuse(fmt.Errorf(format, args...), "weir load gen csv --help")
	}
	if c.Rows < 0 || c.Width < 0 {
		return misuse("--rows and --width may not be negative")
	}
	o := gen.CSVOptions{Rows: c.Rows, Seed: c.Seed, Width: c.Width, NoHeading: c.NoHeader}
	for _, name := range c.Columns {
		if known := columnNames(); !slices.Contains(known, name) {
			return misuse("--columns: %q is none of %s", name, strings.Join(known, ", "))
		}
		o.Columns = append(o.Columns, gen.Column(name))
	}
	return cli.Buffered(s.Out, func(w io.Writer) error { return gen.CSV(w, o) })
}

func columnNames() []string {
	var names []string
	for _, c := range gen.Columns() {
		names = append(names, string(c))
	}
	return names
}

type genBytesCommand struct {
	Size     readable.Bytes `arg:"" help:"How many: 50000, 50kB or 1MiB."`
	Alphabet string         `placeholder:"CHARS" help:"Choose from CHARS instead of what is printable and needs no escape."`
	Seed     uint64         `placeholder:"N" help:"Make other bytes: the same N makes the same (default 0)."`
}

// Help implements kong.HelpProvider.
func (genBytesCommand) Help() string {
	return `Writes random ASCII to stdout, without spaces, quotes and backslashes.

Examples:
  weir load gen bytes 50kB > body.txt
  weir load --body @body.txt URL`
}

// Run writes the bytes.
func (c *genBytesCommand) Run(s cli.Streams) error {
	return cli.Buffered(s.Out, func(w io.Writer) error { return gen.Bytes(w, int64(c.Size), c.Seed, c.Alphabet) })
}
