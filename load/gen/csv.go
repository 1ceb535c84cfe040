package gen

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Column is what the fields of a column hold. Its name is its heading.
type Column string

// The columns.
const (
	ID     Column = "id"     // the row's number, from 1
	UUID   Column = "uuid"   // random, version 4
	Name   Column = "name"   // first and last; some with an apostrophe, a hyphen or letters beyond ASCII
	Email  Column = "email"  // of the row's person, unique, at example.com and its like
	Date   Column = "date"   // of 2000 to 2039, as 2006-01-02
	Amount Column = "amount" // with two decimals, some below 0
	Text   Column = "text"   // sentences; some with commas, quotes and line breaks
)

// Columns returns those that a table has unless others are given.
func Columns() []Column { return []Column{ID, UUID, Name, Email, Date, Amount, Text} }

// CSVOptions say what table to make.
type CSVOptions struct {
	Rows    int      // without the heading
	Columns []Column // nil is those of Columns; one may come several times
	Seed    uint64
	Width   int // how many bytes a text has at most: 0 is 40

	NoHeading bool // leaves out the line with the columns' names
}

const defaultWidth = 40

// CSV writes a heading, unless it is to be left out, and rows as RFC 4180 has them, with \n at the ends of
// lines, and quotes where a field needs them.
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

// A table makes rows. It belongs to one goroutine.
type table struct {
	columns []Column
	seed    uint64
	width   int
	random  random

	first, last string // of the row's person
	field       []byte
	day         calendar
}

func newTable(o CSVOptions) (*table, error) {
	t := &table{columns: o.Columns, seed: mix64(o.Seed), width: o.Width}
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
	t.random = random(t.seed + uint64(row))
	t.random = random(t.random.next())
	t.first, t.last = firstNames[t.random.below(len(firstNames))], lastNames[t.random.below(len(lastNames))]
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
		return appendUUID(b, r.next(), r.next())
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
		return append(b, mailHosts[r.below(len(mailHosts))]...)
	case Date:
		return t.day.append(b, r)
	case Amount:
		return appendAmount(b, r.below(1_100_000)-100_000)
	default: // Text, since newTable knows the columns
		t.field = appendText(t.field[:0], r, t.width)
		return appendQuoted(b, t.field)
	}
}

// appendQuoted appends a field, in quotes when it has to be: RFC 4180 section 2.
// Space at its ends would get lost with some readers.
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

// appendText appends words to at most so many bytes, as many as fit.
func appendText(b []byte, r *random, width int) []byte {
	begin := len(b)
	for {
		x := r.next()
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

// marks are what stands behind a word: mostly space, 1 in 16 a comma, and now
// and then what makes a reader of CSV think.
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

// A calendar holds the days of 2000 to 2039 once they are needed.
type calendar []string

func (c *calendar) append(b []byte, r *random) []byte {
	if *c == nil {
		for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2040; day = day.AddDate(0, 0, 1) {
			*c = append(*c, day.Format(time.DateOnly))
		}
	}
	return append(b, (*c)[r.below(len(*c))]...)
}

// appendMailbox appends a name as it stands in addresses: ASCII letters in lower
// case, without the rest.
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

// appendUUID appends 16 random bytes as a UUID, RFC 9562 section 5.4.
func appendUUID(b []byte, high, low uint64) []byte {
	high, low = high&^0xf000|0x4000, low&^(0xc0<<56)|0x80<<56
	b = appendHex(b, high>>32, 8)
	b = appendHex(append(b, '-'), high>>16, 4)
	b = appendHex(append(b, '-'), high, 4)
	b = appendHex(append(b, '-'), low>>48, 4)
	return appendHex(append(b, '-'), low, 12)
}

// appendHex appends the last digits of x.
func appendHex(b []byte, x uint64, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[x>>shift&15])
	}
	return b
}
