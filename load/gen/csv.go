package gen

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/load/internal/random"
)

// A Column is the kind of data in a column. Its name is the heading.
type Column string

// The columns.
const (
	ID     Column = "id"     // the row's number, from 1
	UUID   Column = "uuid"   // random, version 4
	Name   Column = "name"   // first and last; some with an apostrophe, a hyphen or letters beyond ASCII
	Email  Column = "email"  // of the same person, unique, at example.com or a similar host
	Date   Column = "date"   // from 2000 to 2039, such as 2006-01-02
	Amount Column = "amount" // with two decimals, some below 0
	Text   Column = "text"   // sentences; some with commas, quotes and line breaks
)

// Columns returns the default columns.
func Columns() []Column { return []Column{ID, UUID, Name, Email, Date, Amount, Text} }

// CSVOptions describe a table. The zero value is a table without rows.
type CSVOptions struct {
	Rows    int      // without the heading
	Columns []Column // nil is Columns(); a column may occur several times
	Seed    uint64
	Width   int // the most bytes of a Text; 0 is 40

	NoHeading bool // leaves out the heading
}

const defaultWidth = 40

// CSV writes a heading and rows (RFC 4180). Lines end with \n. Fields are quoted if they
// need it.
func CSV(w io.Writer, o CSVOptions) error {
	t, err := newTable(o)
	if err != nil {
		return err
	}
	const chunk = 64 << 10
	b := make([]byte, 0, chunk+chunk/4)
	if !o.NoHeading {
		b = t.appendHeading(b)
	}
	for row := range o.Rows {
		b = t.appendRow(b, row)
		if len(b) >= chunk {
			if _, err := w.Write(b); err != nil {
				return fmt.Errorf("gen: row %d: %w", row+1, err)
			}
			b = b[:0]
		}
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("gen: row %d: %w", o.Rows, err)
	}
	return nil
}

// A table generates rows. Goroutines must not share it.
type table struct {
	columns []Column
	seed    uint64
	width   int
	random  random.Source

	first, last string // of the row's person
	field       []byte
	day         calendar
}

func newTable(o CSVOptions) (*table, error) {
	t := &table{columns: o.Columns, seed: random.Mix(o.Seed), width: o.Width}
	if o.Rows < 0 || o.Width < 0 {
		return nil, fmt.Errorf("gen: a table of %d rows with texts of %d bytes cannot be made", o.Rows, o.Width)
	}
	if t.columns == nil {
		t.columns = Columns()
	}
	if len(t.columns) == 0 {
		return nil, fmt.Errorf("gen: a table has at least one column; there are %s", known())
	}
	if t.width == 0 {
		t.width = defaultWidth
	}
	for _, c := range t.columns {
		if !slices.Contains(Columns(), c) {
			return nil, fmt.Errorf("gen: there is no column %q; there are %s", string(c), known())
		}
	}
	return t, nil
}

func known() string {
	var names []string
	for _, c := range Columns() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

func (t *table) appendHeading(b []byte) []byte {
	for i, c := range t.columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, c...)
	}
	return append(b, '\n')
}

func (t *table) appendRow(b []byte, row int) []byte {
	t.random = random.Source(t.seed + uint64(row))
	t.random = random.Source(t.random.Next())
	t.first, t.last = pick(firstNames, &t.random), pick(lastNames, &t.random)
	for i, c := range t.columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.appendField(b, c, row)
	}
	return append(b, '\n')
}

func (t *table) appendField(b []byte, c Column, row int) []byte {
	r := &t.random
	switch c {
	case ID:
		return strconv.AppendInt(b, int64(row)+1, 10)
	case UUID:
		return random.AppendUUID(b, r.Next(), r.Next())
	case Name:
		b = append(b, t.first...)
		b = append(b, ' ')
		return append(b, t.last...)
	case Email:
		b = appendMailbox(b, t.first)
		b = append(b, '.')
		b = appendMailbox(b, t.last)
		b = strconv.AppendInt(b, int64(row)+1, 10)
		b = append(b, '@')
		return append(b, pick(mailHosts, r)...)
	case Date:
		return t.day.append(b, r)
	case Amount:
		return appendAmount(b, int(random.Below(r.Next(), 1_100_000))-100_000)
	default: // Text, since newTable has checked the columns
		t.field = appendText(t.field[:0], r, t.width)
		return appendQuoted(b, t.field)
	}
}

// appendQuoted appends a field, and quotes it if necessary (RFC 4180 section 2). Some
// readers remove space at the ends of fields that are not quoted.
func appendQuoted(b, field []byte) []byte {
	if len(field) > 0 && !bytes.ContainsAny(field, ",\"\r\n") && field[0] != ' ' && field[len(field)-1] != ' ' {
		return append(b, field...)
	}
	b = append(b, '"')
	for {
		i := bytes.IndexByte(field, '"')
		if i < 0 {
			break
		}
		b = append(b, field[:i+1]...)
		b = append(b, '"')
		field = field[i+1:]
	}
	b = append(b, field...)
	return append(b, '"')
}

// appendText appends as many words as fit into width bytes.
func appendText(b []byte, r *random.Source, width int) []byte {
	begin := len(b)
	for {
		x := r.Next()
		word := words[x>>32*uint64(len(words))>>32]
		end := marks[x&0xff]
		if len(b)-begin+len(word)+len(end) > width {
			break
		}
		b = append(b, word...)
		b = append(b, end...)
	}
	if text := bytes.TrimRight(b[begin:], " \n"); len(text) > 0 {
		return b[:begin+len(text)]
	}
	for len(b)-begin < min(width, 1) {
		b = append(b, 'x') // no word fits
	}
	return b
}

// marks follow a word: mostly a space, 1 in 16 a comma, and sometimes a line break or
// quotes, which CSV has to quote.
var marks = func() (m [256]string) {
	for i := range m {
		switch {
		case i < 16:
			m[i] = ", "
		case i < 32:
			m[i] = ". "
		case i < 34:
			m[i] = "\n"
		case i < 38:
			m[i] = ` "so" `
		default:
			m[i] = " "
		}
	}
	return m
}()

func appendAmount(b []byte, cents int) []byte {
	if cents < 0 {
		b, cents = append(b, '-'), -cents
	}
	b = strconv.AppendInt(b, int64(cents/100), 10)
	return append(b, '.', byte('0'+cents%100/10), byte('0'+cents%10))
}

// A calendar has the days of 2000 to 2039. The first use fills it.
type calendar []string

func (c *calendar) append(b []byte, r *random.Source) []byte {
	if *c == nil {
		for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2040; day = day.AddDate(0, 0, 1) {
			*c = append(*c, day.Format(time.DateOnly))
		}
	}
	return append(b, pick(*c, r)...)
}

// appendMailbox appends the ASCII letters of a name in lower case.
func appendMailbox(b []byte, name string) []byte {
	for i := range len(name) {
		switch c := name[i]; {
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case 'a' <= c && c <= 'z':
			b = append(b, c)
		}
	}
	return b
}

func pick(list []string, r *random.Source) string {
	return list[random.Below(r.Next(), uint64(len(list)))]
}
