package loadcmd

import (
	"io"
	"slices"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load/gen"
)

type genCommand struct {
	CSV   genCSVCommand   `cmd:"" name:"csv" help:"Write a table of random data."`
	Bytes genBytesCommand `cmd:"" help:"Write random printable bytes."`
}

type genCSVCommand struct {
	Rows    int      `default:"1000" placeholder:"N" help:"Write N rows below the header (default ${default})."`
	Columns []string `placeholder:"NAME" complete:"id,uuid,name,email,date,amount,text" help:"The columns: id, uuid, name, email, date, amount, text (default all)."`
	Width   int      `default:"40" placeholder:"BYTES" help:"Limit texts to BYTES (default ${default})."`
	Seed    uint64   `placeholder:"N" help:"Seed; the same N gives the same data (default 0)."`

	NoHeader bool `help:"Omit the line of column names, as for a file of {{line}}."`
}

// Help implements kong.HelpProvider.
func (genCSVCommand) Help() string {
	return `Streams CSV to stdout, with the quotes, apostrophes, line breaks and non-ASCII letters of real data.

Examples:
  weir load gen csv --rows 50000 > table.csv
  weir load --body @table.csv -H 'Content-Type: text/csv' URL
  weir load gen csv --rows 100 --columns email --no-header > users.txt
  weir load 'http://127.0.0.1:8080/users/{{line "users.txt"}}'`
}

// Run writes the table.
func (c *genCSVCommand) Run(s cli.Streams) error {
	const hint = "weir load gen csv --help"
	if c.Rows < 0 || c.Width < 0 {
		return misuse(hint, "--rows and --width may not be negative")
	}
	o := gen.CSVOptions{Rows: c.Rows, Seed: c.Seed, Width: c.Width, NoHeading: c.NoHeader}
	for _, name := range c.Columns {
		if known := columnNames(); !slices.Contains(known, name) {
			return misuse(hint, "--columns: %q is none of %s", name, strings.Join(known, ", "))
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
	Size     readable.Bytes `arg:"" help:"Number of bytes, such as 50000, 50kB or 1MiB."`
	Alphabet string         `placeholder:"CHARS" help:"Choose from CHARS (default printable ASCII that needs no escape)."`
	Seed     uint64         `placeholder:"N" help:"Seed; the same N gives the same bytes (default 0)."`
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
