// Package yamlfile reads configuration files in YAML and reports all mistakes together,
// each with its line and column and the word that was probably meant.
//
// [Read] parses a file into a tree of [Node] and rejects features that a configuration
// file does not need: anchors, aliases, merge keys, tags, directives, several
// documents, duplicate keys. A [Reader] walks the tree, with a [Key] for each setting,
// and stores the values. The functions on scalars, such as [Duration] and [Size], each
// parse one kind of value.
package yamlfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The limits of a file. Configuration files have some kilobytes and a few levels. The
// YAML parser recurses; the limits bound its stack.
const (
	maxBytes   = 1 << 20
	maxNesting = 32
)

// A Pos is a position in a file, 1-based; the column counts characters.
type Pos struct {
	Line, Col int
	file      *File  // nil means the file whose method is called
	outer     *Outer // nil for what is not inherited
}

// An Outer is a place around mappings that inherit its values.
type Outer struct {
	Name string // such as "defaults"
	At   Pos    // of the place
	by   Pos    // of the mapping that inherits; its Line is 0 if that is not one in particular
}

// Outer returns the place from which the value at p is inherited, or nil.
func (p Pos) Outer() *Outer { return p.outer }

// Same reports whether two places are the same.
func (o *Outer) Same(other *Outer) bool {
	return o == other || o != nil && other != nil && o.Name == other.Name && o.At == other.At
}

// Again returns p as the position of a value that is read once more: a mistake there is added only if
// it is the first one.
func (p Pos) Again() Pos {
	p.outer = new(Outer)
	return p
}

// FileName returns the name of the file of a position in a tree.
func (p Pos) FileName() string { return p.file.name }

// LineFrom returns the line of p for a message at another position: "line 3", or "line 3
// of FILE" if p is in another file.
func (p Pos) LineFrom(at Pos) string {
	if p.file == at.file || p.file == nil {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d of %s", p.Line, Printable(p.file.name))
}

// in returns the file of p, which is f if p does not name one.
func (p Pos) in(f *File) *File {
	if p.file != nil {
		return p.file
	}
	return f
}

// A File is a source with the mistakes found in it so far, and the warnings.
type File struct {
	name, kind         string
	src                []byte
	lines              []string
	mistakes, warnings []Mistake
	repeatHint         string
	reports            int // mistakes, with those that are not added because their place has one
}

// Read parses src into a tree. The name and the kind, such as "a configuration", are
// used only in messages. The root is nil if the file is empty or is not YAML; see
// [File.Err]. A last argument is the hint for anchors, aliases and merge keys, if the file has another way to repeat
// values.
func Read(name, kind string, src []byte, repeat ...string) (*File, *Node) {
	// The line ends of Windows are those of YAML, but the parser keeps them in texts and loses the places of comments.
	f := NewFile(name, kind, bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")), maxBytes)
	f.repeatHint = strings.Join(repeat, "")
	if root := f.document(); root != nil {
		return f, f.node(root)
	}
	return f, nil
}

// NewFile returns a file in another syntax than YAML, which the caller reads from
// [File.Source]. A source that is not UTF-8 text or longer than the limit in bytes is
// reported as a mistake and emptied.
func NewFile(name, kind string, src []byte, limit int) *File {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	f := &File{name: name, kind: kind, src: src, lines: strings.Split(string(src), "\n")}
	if !f.readable(limit) {
		f.src = nil
	}
	return f
}

// Name returns the name of the file in messages.
func (f *File) Name() string { return f.name }

// Source returns the text of the file, without a byte order mark. The caller
// must not change it.
func (f *File) Source() []byte { return f.src }

// Mistakes returns the mistakes found so far, in file order.
func (f *File) Mistakes() []Mistake { return inFileOrder(f.mistakes) }

// Warnings returns the warnings so far, in file order.
func (f *File) Warnings() []Mistake { return inFileOrder(f.warnings) }

func inFileOrder(all []Mistake) []Mistake {
	return slices.SortedStableFunc(slices.Values(all), func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// Err returns the [File.Mistakes] joined by errors.Join, or nil if there are none.
func (f *File) Err() error {
	var errs []error
	for _, m := range f.Mistakes() {
		errs = append(errs, m)
	}
	return errors.Join(errs...)
}

// document parses the source and returns the root of its only document, or nil if there
// is none.
func (f *File) document() ast.Node {
	if f.mistakes != nil {
		return nil
	}
	tokens := lexer.Tokenize(string(f.src))
	if tk := tooDeep(tokens); tk != nil {
		f.Mistakef(f.posOf(tk), f.kind+" has no use for so many levels", "nested too deeply")
		return nil
	}
	return f.parse(tokens)
}

// parse parses tokens and returns the root of the only document.
func (f *File) parse(tokens token.Tokens) ast.Node {
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		f.reportSyntax(err)
		return nil
	}
	return f.onlyDocument(file.Docs)
}

// readable reports whether the source is text within the limit.
func (f *File) readable(limit int) bool {
	if len(f.src) > limit {
		f.Mistakef(Pos{Line: 1, Col: 1}, "is it the right file?", "%d bytes are too many for %s; the limit is %d",
			len(f.src), f.kind, limit)
		return false
	}
	for i := 0; i < len(f.src); {
		c, size := utf8.DecodeRune(f.src[i:])
		if c == utf8.RuneError && size == 1 || c == 0 {
			f.Mistakef(f.posOfByte(i), "save the file as UTF-8, if it is the right one", "the byte 0x%02x is not UTF-8 text", f.src[i])
			return false
		}
		i += size
	}
	return true
}

func (f *File) posOfByte(i int) Pos {
	before := f.src[:i]
	return Pos{
		file: f,
		Line: 1 + bytes.Count(before, []byte("\n")),
		Col:  1 + utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):]),
	}
}

// tooDeep returns the first token below maxNesting, or nil. Brackets nest across lines,
// and so does a line that starts several block entries ("- - -"). Entries on separate
// lines need an indentation for each level, which the size of the file bounds.
func tooDeep(tokens token.Tokens) *token.Token {
	brackets, entries, line := 0, 0, 0
	for _, tk := range tokens {
		if tk.Position.Line != line {
			entries, line = 0, tk.Position.Line
		}
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			brackets++
		case token.MappingEndType, token.SequenceEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			entries++
		}
		if max(brackets, entries) > maxNesting {
			return tk
		}
	}
	return nil
}

// reportSyntax reports an error of the YAML parser.
func (f *File) reportSyntax(err error) {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		f.Mistakef(Pos{Line: 1, Col: 1}, "", "not YAML: %s", err)
		return
	}
	pos := f.clamp(f.posOf(at.GetToken()))
	e := &syntaxError{f.lines, at.GetMessage(), pos.Line, pos.Col}
	if found := e.find(); found != nil {
		f.Mistakef(f.PosOfColumn(found.line, found.col), found.hint, "not YAML: %s", found.what)
		return
	}
	f.Mistakef(pos, e.hint(), "not YAML: %s", e.msg)
}

// onlyDocument returns the content of the first document and reports the other ones.
func (f *File) onlyDocument(docs []*ast.DocumentNode) ast.Node {
	var root ast.Node
	seen := false
	for _, doc := range docs {
		_, directive := doc.Body.(*ast.DirectiveNode)
		switch {
		case directive:
			f.Mistakef(f.posOf(doc.Body.GetToken()), "remove the line", "YAML directives are not supported")
		case !seen:
			root, seen = doc.Body, true
		default:
			f.secondDocument(doc)
		}
	}
	return root
}

func (f *File) secondDocument(doc *ast.DocumentNode) {
	tk := doc.Start
	if tk == nil && doc.Body != nil {
		tk = doc.Body.GetToken()
	}
	if tk != nil {
		f.Mistakef(f.posOf(tk), `remove it and the "---"`, "a second document begins here, but %s is one document",
			f.kind)
	}
}

// Mistakef adds a mistake at a position of the file, or of the file that the position
// names. Of an inherited value, which is read several times, it adds only the first mistake.
func (f *File) Mistakef(at Pos, hint, format string, args ...any) {
	f = at.in(f)
	f.reports++
	f.mistakes = f.add(f.mistakes, at, hint, fmt.Sprintf(format, args...))
}

// Warnf adds a warning in the same way: the value is valid, and probably a mistake.
func (f *File) Warnf(at Pos, hint, format string, args ...any) {
	f = at.in(f)
	f.warnings = f.add(f.warnings, at, hint, fmt.Sprintf(format, args...))
}

// repeat returns the hint for a feature of YAML that repeats values.
func (f *File) repeat(hint string) string { return cmp.Or(f.repeatHint, hint) }

// Reports returns how often Mistakef was called for the file. It also counts the mistakes that were not added.
func (f *File) Reports() int { return f.reports }

// add appends a mistake, unless it is about an inherited value that has one.
func (f *File) add(all []Mistake, at Pos, hint, what string) []Mistake {
	m := f.mistake(at, hint, what)
	if at.outer == nil {
		return append(all, m)
	}
	if slices.ContainsFunc(all, func(other Mistake) bool { return other.Line == m.Line && other.Col == m.Col }) {
		return all
	}
	if by := at.outer.by; by.Line > 0 {
		m.What += ", for the route on " + by.LineFrom(at)
	}
	return append(all, m)
}

func (f *File) mistake(at Pos, hint, what string) Mistake {
	at = f.clamp(at)
	return Mistake{File: f.name, Line: at.Line, Col: at.Col, What: Printable(what), Hint: Printable(hint)}
}

// Refuse adds a mistake about a value.
func (f *File) Refuse(s Scalar, why *Refusal) {
	at := s.Pos
	if why.Offset > 0 {
		at = f.Within(s, why.Offset)
	}
	f.Mistakef(at, why.Hint, "%s", why.What)
}

// Within returns the position of the byte at offset in the text of s. If the file has
// the text in another form, with an escape, a variable or a line end before the offset,
// it returns the start of s.
func (f *File) Within(s Scalar, offset int) Pos {
	f = s.Pos.in(f)
	at := f.clamp(s.Pos)
	line := []rune(f.lines[at.Line-1])
	rest := string(line[at.Col-1:])
	if offset > len(s.Text) {
		return at
	}
	before := s.Text[:offset]
	for _, quote := range []string{`"`, "'", ""} {
		if strings.HasPrefix(rest, quote+before) {
			at.Col += utf8.RuneCountInString(quote + before)
			return at
		}
	}
	return at
}

// PosOfColumn returns the position of a column that counts bytes.
func (f *File) PosOfColumn(line, column int) Pos {
	at := f.clamp(Pos{Line: line})
	text := f.lines[at.Line-1]
	return Pos{Line: at.Line, Col: 1 + utf8.RuneCountInString(text[:min(max(column-1, 0), len(text))]), file: f}
}

// clamp moves a position into the file. The YAML parser returns column 0 for a value
// that begins on its own line, and the line after the last one for an end.
func (f *File) clamp(at Pos) Pos {
	at.Line = min(max(at.Line, 1), len(f.lines))
	at.Col = min(max(at.Col, 1), 1+utf8.RuneCountInString(f.lines[at.Line-1]))
	at.file = f
	return at
}

func (f *File) posOf(tk *token.Token) Pos {
	return Pos{Line: tk.Position.Line, Col: tk.Position.Column, file: f}
}
