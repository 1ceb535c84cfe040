package yamlfile

import (
	"strings"
	"unicode/utf8"
)

// maxColumns is the length of the longest line with a collection in brackets.
const maxColumns = 120

// A printer writes a styled tree.
type printer struct {
	b     strings.Builder
	fresh bool // no empty line may follow: at the beginning, below a key, after a text that ends in empty lines
}

func (p *printer) document(e *entry) {
	p.comments(e.above, 0)
	if e.value == nil {
		return
	}
	p.space(e.blank)
	if e.value.inline() || p.fits(e.value, 0) {
		p.single(e, 0)
		p.comments(e.value.below, 0)
		return
	}
	if after := e.lineComment(); after != nil {
		p.comments([]comment{*after}, 0)
	}
	p.entries(e.value, 0)
}

// inline reports whether v has no entries to write on lines of their own.
func (v *styled) inline() bool { return len(v.entries) == 0 }

// lineComment returns the comment on the line of a key whose value follows on the next lines.
func (e *entry) lineComment() *comment {
	if e.opening != nil {
		return e.opening
	}
	return e.after
}

// entries writes a collection with a line for each entry. The first one continues the line if it has begun.
func (p *printer) entries(v *styled, indent int) {
	for _, e := range v.entries {
		p.comments(e.above, indent)
		p.space(e.blank)
		p.indent(indent)
		p.entry(e, indent)
	}
	p.comments(v.below, indent)
}

// entry writes an entry, to whose beginning the line is indented.
func (p *printer) entry(e *entry, indent int) {
	head := "-"
	if e.key != nil {
		head = e.key.flowText(false) + ":"
	}
	p.b.WriteString(head)
	if e.value.inline() || p.fits(e.value, indent+utf8.RuneCountInString(head)+1) {
		p.single(e, indent)
		return
	}
	after := e.lineComment()
	if e.key == nil && after == nil {
		p.b.WriteByte(' ')
		p.entries(e.value, indent+2)
		return
	}
	p.endLine(after)
	p.fresh = true
	p.entries(e.value, indent+2)
}

// single writes a value that is not on lines of its own, and the rest of the line.
func (p *printer) single(e *entry, indent int) {
	v := e.value
	column := p.column()
	if column > 0 && !v.implicit() {
		p.b.WriteByte(' ')
		column++
	}
	if lines := v.blockLines(indent+2, column); lines != nil {
		p.block(v, e.after, lines, indent+2)
		return
	}
	p.b.WriteString(v.flowText(false))
	p.endLine(e.after)
}

// block writes a block scalar.
func (p *printer) block(v *styled, after *comment, lines []string, indent int) {
	header := v.header
	if header == "" {
		header = ">-"
	}
	p.b.WriteString(header)
	p.endLine(after)
	for _, line := range lines {
		if line != "" {
			p.indent(indent)
		}
		p.b.WriteString(line + "\n")
	}
	p.fresh = lines[len(lines)-1] == ""
}

// blockLines returns the lines of v as a block scalar, or nil if it is not one. A text of several lines becomes one if
// it does not fit on the line.
func (v *styled) blockLines(indent, column int) []string {
	switch {
	case v.header != "":
		return v.lines
	case !v.long || column+utf8.RuneCountInString(v.flowText(false)) <= maxColumns:
		return nil
	}
	words := strings.Split(v.text, " ")
	for _, word := range words {
		if word == "" || word != Printable(word) {
			return nil
		}
	}
	return filled(words, maxColumns-indent)
}

// filled distributes words over lines of at most width characters, if the words are not longer.
func filled(words []string, width int) (lines []string) {
	line := words[0]
	for _, word := range words[1:] {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = word
			continue
		}
		line += " " + word
	}
	return append(lines, line)
}

// fits reports whether v is a collection in brackets that fits on the line after the column.
func (p *printer) fits(v *styled, column int) bool {
	return v.flow && column+utf8.RuneCountInString(v.flowText(false)) <= maxColumns
}

// flowText returns v on one line. within says that it is in brackets.
func (v *styled) flowText(within bool) string {
	switch {
	case v.kind == Null && v.text == "" && within:
		return "null"
	case v.kind == Null || v.kind == Single && !v.quoted && !(within && strings.ContainsAny(v.text, ",[]{}")):
		return v.text
	case v.kind == Single:
		return requoted(v.text, v.key, within)
	}
	parts := make([]string, len(v.entries))
	for i, e := range v.entries {
		parts[i] = e.value.flowText(true)
		if e.key != nil {
			parts[i] = e.key.flowText(true) + ": " + parts[i]
		}
	}
	all := strings.Join(parts, ", ")
	if v.kind == List {
		return "[" + all + "]"
	}
	return "{" + all + "}"
}

// comments writes comments on lines of their own.
func (p *printer) comments(all []comment, indent int) {
	for _, c := range all {
		p.space(c.blank)
		p.indent(indent)
		p.b.WriteString(c.text + "\n")
		p.fresh = false
	}
}

// space writes an empty line where the source has one.
func (p *printer) space(blank bool) {
	if blank && !p.fresh && p.column() == 0 {
		p.b.WriteByte('\n')
	}
}

// indent indents a line that has not begun.
func (p *printer) indent(n int) {
	if p.column() == 0 {
		p.b.WriteString(strings.Repeat(" ", n))
	}
}

// column returns the length of the current line.
func (p *printer) column() int {
	text := p.b.String()
	return utf8.RuneCountInString(text[strings.LastIndexByte(text, '\n')+1:])
}

func (p *printer) endLine(after *comment) {
	if after != nil {
		p.b.WriteString(" " + after.text)
	}
	p.b.WriteByte('\n')
	p.fresh = false
}

func (p *printer) out() []byte { return []byte(p.b.String()) }
