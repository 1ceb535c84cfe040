package yamlfile

import (
	"math"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A styled is a value with its style in the source and its comments.
type styled struct {
	kind    Kind
	entries []*entry
	flow    bool      // a collection in brackets, without comments in it
	below   []comment // in the collection, after its last entry

	text   string   // of a Single or Null, as in the file for a plain one
	quoted bool     // it has quotes in the source, or several lines
	long   bool     // it has several lines, without being a block scalar
	key    bool     // it is the key of a mapping
	header string   // of a block scalar, "|" or ">" with "-" or "+"
	lines  []string // of a block scalar, without their indentation
}

// An entry is a key of a mapping with its value, or an element of a list, whose key is nil.
type entry struct {
	above   []comment
	blank   bool // an empty line is between above and the entry
	key     *styled
	opening *comment // on the line of the key or the dash, before a value on the next lines
	value   *styled
	after   *comment // on the line on which the value ends
}

// A layout makes the styled tree of a file. It distributes the comments in their order.
type layout struct {
	file *File
	rest []comment // not yet in the tree
}

// before reports whether p is before q.
func (p Pos) before(q Pos) bool { return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col }

// end is after all positions of a file.
var end = Pos{Line: math.MaxInt}

// document returns the tree of a file. Without a value, it has only comments.
func (l *layout) document(root ast.Node) *entry {
	e := new(entry)
	if root == nil {
		e.above = l.take(end)
		return e
	}
	l.value(e, root, 0, end)
	e.value.below = append(e.value.below, l.take(end)...)
	return e
}

// take returns the comments before limit.
func (l *layout) take(limit Pos) []comment {
	n := 0
	for n < len(l.rest) && l.rest[n].pos.before(limit) {
		n++
	}
	taken := l.rest[:n:n]
	l.rest = l.rest[n:]
	return taken
}

// takeAfter returns the next comment if it is before limit, on a line that begins with something else.
func (l *layout) takeAfter(limit Pos) *comment {
	if len(l.rest) == 0 || l.rest[0].own || !l.rest[0].pos.before(limit) {
		return nil
	}
	return &l.take(l.rest[0].pos.right())[0]
}

func (p Pos) right() Pos { p.Col++; return p }

// takeBelow returns the comments on lines of their own before limit that are indented more than the column.
func (l *layout) takeBelow(column int, limit Pos) []comment {
	var below []comment
	for len(l.rest) > 0 && l.rest[0].pos.before(limit) && l.rest[0].pos.Col > column {
		below = append(below, l.take(l.rest[0].pos.right())...)
	}
	return below
}

// value stores the value n in e. The collection of e begins in the column, and the next entry of any collection, or the
// closing bracket, is at limit.
func (l *layout) value(e *entry, n ast.Node, column int, limit Pos) {
	n = unwrapped(l.file, n)
	children, closing := l.children(n)
	start := l.startOf(n)
	if len(children) == 0 {
		e.value = l.scalar(n)
		if !e.value.implicit() {
			e.putAbove(l.take(start))
		}
		if closing != nil {
			e.putAbove(l.take(*closing)) // [ # comment
		}
		e.after = l.takeAfter(limit)
		return
	}
	v := &styled{kind: kindOf(n)}
	e.value = v
	inside := limit
	if closing != nil {
		inside = *closing
		v.flow = !l.commentBetween(start, inside)
	}
	if v.flow {
		e.putAbove(l.take(start))
	} else {
		e.opening = l.takeAfter(children[0].start)
	}
	for i, c := range children {
		next := inside
		if i+1 < len(children) {
			next = children[i+1].start
		}
		v.entries = append(v.entries, l.entry(c, start.Col, next))
	}
	switch {
	case v.flow:
		e.after = l.takeAfter(limit)
	case closing != nil:
		v.below = l.take(inside)
		if after := l.takeAfter(limit); after != nil {
			v.below = append(v.below, *after)
		}
	default:
		v.below = l.takeBelow(column, limit)
	}
}

// implicit reports whether v is a value that is not in the file.
func (v *styled) implicit() bool { return v.kind == Null && v.text == "" }

// putAbove adds comments above e, such as those between a key and its value.
func (e *entry) putAbove(comments []comment) {
	if len(comments) == 0 {
		return
	}
	comments[0].blank = comments[0].blank || e.blank
	e.above, e.blank = append(e.above, comments...), false
}

// hoistFromFirst moves the comments between a dash and its collection above the dash.
func (e *entry) hoistFromFirst() {
	if e.key != nil || e.opening != nil || e.value.flow || len(e.value.entries) == 0 {
		return
	}
	first := e.value.entries[0]
	e.putAbove(first.above)
	first.above, first.blank = nil, false
}

func (l *layout) commentBetween(from, to Pos) bool {
	for _, c := range l.rest {
		if from.before(c.pos) && c.pos.before(to) {
			return true
		}
	}
	return false
}

// A rawEntry is an entry in the tree of the parser.
type rawEntry struct {
	start Pos
	key   ast.Node // nil in a list
	value ast.Node
}

// children returns the entries of a collection, and the position of its closing bracket.
func (l *layout) children(n ast.Node) (all []rawEntry, closing *Pos) {
	closedBy := func(tk *token.Token) {
		at := l.file.posOf(tk)
		closing = &at
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			all = append(all, rawEntry{l.startOf(pair), pair.Key, pair.Value})
		}
		if n.IsFlowStyle {
			closedBy(n.End)
		}
	case *ast.MappingValueNode:
		all = []rawEntry{{l.startOf(n), n.Key, n.Value}}
	case *ast.SequenceNode:
		for i, item := range n.Values {
			start := l.startOf(item)
			if !n.IsFlowStyle {
				start = l.file.posOf(n.Entries[i].Start)
			}
			all = append(all, rawEntry{start, nil, item})
		}
		if n.IsFlowStyle {
			closedBy(n.End)
		}
	}
	return all, closing
}

// entry returns the entry for c, of a collection that begins in the column.
func (l *layout) entry(c rawEntry, column int, limit Pos) *entry {
	e := &entry{above: l.take(c.start), blank: l.file.blankAbove(c.start.Line)}
	if c.key != nil {
		e.key = l.scalar(c.key)
		e.key.key = true
	}
	l.value(e, c.value, column, limit)
	e.hoistFromFirst()
	return e
}

func (l *layout) startOf(n ast.Node) Pos { return l.file.startOf(n) }

// unwrapped returns n as a single value if the parser has split it; see unsplit.
func unwrapped(f *File, n ast.Node) ast.Node {
	if s, ok := f.unsplit(n); ok {
		start := n
		if m, ok := n.(*ast.MappingNode); ok {
			start = m.Values[0]
		}
		tk := *start.(*ast.MappingValueNode).Key.GetToken()
		tk.Type, tk.Value = token.StringType, s.Text
		return &ast.StringNode{Token: &tk, Value: s.Text}
	}
	return n
}

func kindOf(n ast.Node) Kind {
	if _, ok := n.(*ast.SequenceNode); ok {
		return List
	}
	return Mapping
}

// scalar returns a single value, or an empty collection.
func (l *layout) scalar(n ast.Node) *styled {
	tk := n.GetToken()
	switch n := n.(type) {
	case *ast.MappingNode:
		return &styled{kind: Mapping, flow: true}
	case *ast.SequenceNode:
		return &styled{kind: List, flow: true}
	case *ast.NullNode:
		if tk.Type == token.ImplicitNullType {
			return &styled{kind: Null}
		}
		return &styled{kind: Null, text: tk.Value}
	case *ast.LiteralNode:
		return l.blockScalar(n)
	}
	long := strings.Contains(strings.TrimSpace(tk.Origin), "\n")
	quoted := long || tk.Type == token.DoubleQuoteType || tk.Type == token.SingleQuoteType ||
		tk.Type == token.StringType && unusualPlain(tk.Value)
	return &styled{kind: Single, text: tk.Value, quoted: quoted, long: long}
}

// A header without a digit, which would be the indentation.
var plainHeader = regexp.MustCompile(`^[|>][+-]?$`)

// blockScalar returns a value after | or >. An unusual one becomes a text in quotes.
func (l *layout) blockScalar(n *ast.LiteralNode) *styled {
	v := &styled{kind: Single, text: n.Value.Token.Value, quoted: true}
	header := n.Start.Value
	if !plainHeader.MatchString(header) || strings.Trim(v.text, " \n") == "" {
		return v
	}
	if !strings.HasSuffix(v.text, "\n") { // also at the end of a file without a line end
		header = header[:1] + "-"
	}
	lines := unindented(l.file.lines[n.Start.Position.Line:])
	for !strings.HasSuffix(header, "+") && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if readsAs(header, lines, v.text) {
		v.header, v.lines = header, lines
	}
	return v
}

// readsAs reports whether a block scalar has the text. The parser reads some with unusual blanks in its own way.
func readsAs(header string, lines []string, text string) bool {
	src := "a: " + header + "\n  " + strings.Join(lines, "\n  ") + "\nb: c\n"
	f, root := Read("", "", []byte(src))
	return f.Err() == nil && root.Kind == Mapping && root.Pairs[0].Value.Text == text
}

// unindented returns the lines of a block scalar, at whose beginning lines begins. Its first line with text has its
// indentation.
func unindented(lines []string) (own []string) {
	if lines[len(lines)-1] == "" { // after the last line end
		lines = lines[:len(lines)-1]
	}
	indent := -1
	for _, line := range lines {
		line = strings.TrimRight(line, "\r")
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		empty := blanks == len(line)
		if indent < 0 && !empty {
			indent = blanks
		}
		switch {
		case empty && (indent < 0 || blanks <= indent):
			own = append(own, "")
		case blanks < indent:
			return own
		default:
			own = append(own, line[indent:])
		}
	}
	return own
}
