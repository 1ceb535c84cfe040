package yamlfile

import (
	"fmt"
	"regexp"
	"strings"
)

// A balance follows the brackets and the quotes of a source that is not YAML, line by line, until it finds one that is
// not closed. A bracket or a quote counts only where a value can begin: any other one is a part of a plain text.
type balance struct {
	open   []mark // brackets, from the outermost
	quote  mark   // the open quote; its line is 0 if there is none
	start  bool   // a value can begin here
	closed bool   // the outermost bracket of this line has been closed
	skip   int    // lines that are indented by more are the text of a block; -1 for none
	found  *finding
}

// A mark is a bracket or a quote.
type mark struct {
	line, col int
	char      byte
}

// closing returns the character that closes a bracket or a quote.
func (m mark) closing() byte {
	if i := strings.IndexByte("[{", m.char); i >= 0 {
		return "]}"[i]
	}
	return m.char
}

// textBlock is the end of a line after which lines of text follow.
var textBlock = regexp.MustCompile(`[:-] +[|>][-+0-9]*( +#.*)?$`)

// read reads a line.
func (b *balance) read(line int, text string) {
	if b.quote.line == 0 && len(b.open) == 0 {
		indent := indentOf(text)
		if b.skip > 0 && (indent >= b.skip || strings.TrimSpace(text) == "") {
			return
		}
		b.skip = 0
		if textBlock.MatchString(text) {
			b.skip = indent + 1
		}
		b.start, b.closed = true, false
	}
	for i := 0; i < len(text) && b.found == nil; i++ {
		if b.quote.line > 0 {
			i = b.inQuote(line, text, i)
			continue
		}
		if text[i] == '#' && (i == 0 || strings.IndexByte(" \t", text[i-1]) >= 0) {
			return
		}
		b.character(line, text, i)
	}
}

// character reads a character outside of quotes.
func (b *balance) character(line int, text string, i int) {
	after := i+1 == len(text) || strings.IndexByte(" \t", text[i+1]) >= 0
	switch c := text[i]; {
	case c == ' ' || c == '\t':
	case b.start && (c == '"' || c == '\''):
		b.quote = mark{line, i + 1, c}
	case (c == '[' || c == '{') && (b.start || len(b.open) > 0):
		b.open, b.start = append(b.open, mark{line, i + 1, c}), true
	case (c == ']' || c == '}') && (b.start || b.closed || len(b.open) > 0):
		b.close(line, i, c)
	case c == ',' && len(b.open) > 0:
		b.start = true
	case c == ':' && (after || i > 0 && strings.IndexByte(`"'`, text[i-1]) >= 0), c == '-' && b.start && after:
		b.start = true
	case b.closed:
		b.found = &finding{line, i + 1, fmt.Sprintf("%s is after the end of the brackets", Quote(text[i:])),
			"put quotes around the whole value"}
	default:
		b.start = false
	}
}

// close reads a closing bracket.
func (b *balance) close(line, i int, c byte) {
	if len(b.open) == 0 {
		b.found = &finding{line, i + 1, fmt.Sprintf("the %q closes no bracket", c), "remove it, or open a bracket before it"}
		return
	}
	last := b.open[len(b.open)-1]
	if last.closing() != c {
		b.found = &finding{last.line, last.col, fmt.Sprintf("the %q is closed by the %q on line %d", last.char, c, line),
			fmt.Sprintf("close it with %q", last.closing())}
		return
	}
	b.open = b.open[:len(b.open)-1]
	b.start, b.closed = false, len(b.open) == 0
}

// inQuote reads a character of a text in quotes, and returns the index of the last byte that it has read.
func (b *balance) inQuote(line int, text string, i int) int {
	switch c := text[i]; {
	case c == '\\' && b.quote.char == '"', c == '\'' && b.quote.char == c && strings.HasPrefix(text[i+1:], "'"):
		return i + 1
	case c == b.quote.char:
		rest := strings.TrimLeft(text[i+1:], " \t")
		goesOn := rest == "" || strings.IndexByte(",]}:#", rest[0]) >= 0
		switch {
		case goesOn:
		case rest == ";":
			b.found = &finding{line, 1 + len(text) - len(rest), "the line ends in a semicolon", "remove it"}
		case line > b.quote.line:
			b.found = &finding{b.quote.line, b.quote.col, fmt.Sprintf("the quote ends only on line %d", line), b.quote.hint()}
		default:
			b.found = &finding{line, 1 + len(text) - len(rest), fmt.Sprintf("%s is after the end of the quotes", Quote(rest)),
				"put quotes around the whole value, or write a list, as in [a, b]"}
		}
		b.quote, b.start = mark{}, false
	}
	return i
}

// hint returns how to close a quote.
func (m mark) hint() string { return fmt.Sprintf("close it with %c at the end of the value", m.char) }

// end notes a quote or a bracket that is open after the last line.
func (b *balance) end() {
	switch {
	case b.found != nil:
	case b.quote.line > 0:
		b.found = &finding{b.quote.line, b.quote.col, "the quote is not closed", b.quote.hint()}
	case len(b.open) > 0:
		first := b.open[0]
		b.found = &finding{first.line, first.col, fmt.Sprintf("the %q is not closed", first.char),
			fmt.Sprintf("close it with %q", first.closing())}
	}
}
