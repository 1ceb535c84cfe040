package page

import (
	"bytes"
	"strings"

	"github.com/weirhq/weir/internal/readable"
)

// A Color is the parameter of an SGR sequence.
type Color string

// The colours of terminals. Plain means no colour.
const (
	Plain      Color = ""
	Bold       Color = "1"
	Dim        Color = "2"
	Red        Color = "31"
	Green      Color = "32"
	Yellow     Color = "33"
	Magenta    Color = "35"
	Cyan       Color = "36"
	BoldYellow Color = "1;33"
)

// A Pen writes for a terminal, in colours and Unicode, or in plain ASCII.
type Pen struct{ Colored bool }

// Paint returns s in a colour.
func (p Pen) Paint(c Color, s string) string {
	if !p.Colored || c == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// spellings are the characters outside of ASCII that reports use.
var spellings = map[rune]string{'µ': "u", '±': "+-", '×': "x", '…': "...", '–': "-", '≥': ">"}

// Clean returns s without characters that control a terminal: printable ASCII and
// the characters of spellings, which plain ASCII spells out. All others become
// escapes.
func (p Pen) Clean(s string) string {
	return readable.Escape(s, func(r rune) string {
		ascii, known := spellings[r]
		if r >= ' ' && r <= '~' || known && p.Colored {
			return string(r)
		}
		return ascii
	})
}

// Text builds a text for a terminal.
type Text struct {
	bytes.Buffer
	Pen
	Width  int
	Indent string // of every line
}

// Println writes an indented line without trailing spaces.
func (t *Text) Println(s string) {
	t.WriteString(strings.TrimRight(t.Indent+s, " "))
	t.WriteByte('\n')
}

// Labelled writes a label, padded to a width, and a text beside it, in as many lines as
// the text takes.
func (t *Text) Labelled(width int, label, text string, c Color) {
	for i, line := range readable.Wrap(t.Clean(text), t.Width-len(t.Indent)-width) {
		if i > 0 {
			label = strings.Repeat(" ", width)
		}
		t.Println(label + t.Paint(c, line))
	}
}
