package front

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What a file may be at most. A configuration is some kilobytes three levels
// deep; these bounds keep the YAML parser, which recurses, on a stack of known
// size.
const (
	maxConfigBytes   = 1 << 20
	maxConfigNesting = 32
)

// document parses the source and returns the root of its only document, or
// nil when there is nothing to read.
func (r *reader) document() ast.Node {
	if !r.readable() {
		return nil
	}
	tokens := lexer.Tokenize(string(r.src))
	if tk := tooDeep(tokens); tk != nil {
		r.mistakef(posOf(tk), "a configuration is three levels deep", "nested too deeply")
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	root := r.onlyDocument(file.Docs)
	if root == nil && len(r.mistakes) == 0 {
		r.mistakef(pos{1, 1}, `it needs "upstreams" and "routes" at least`, "the file is empty")
	}
	return root
}

// readable reports whether the source is text at all.
func (r *reader) readable() bool {
	if len(r.src) > maxConfigBytes {
		r.mistakef(pos{1, 1}, "is it the right file?", "%d bytes are too many for a configuration, which may have %d", len(r.src), maxConfigBytes)
		return false
	}
	for i := 0; i < len(r.src); {
		c, size := utf8.DecodeRune(r.src[i:])
		if c == utf8.RuneError && size == 1 || c == 0 {
			r.mistakef(r.posOfByte(i), "is it the right file?", "the byte 0x%02x is no UTF-8 text", r.src[i])
			return false
		}
		i += size
	}
	return true
}

func (r *reader) posOfByte(i int) pos {
	before := r.src[:i]
	return pos{
		line: 1 + bytes.Count(before, []byte("\n")),
		col:  1 + utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):]),
	}
}

// tooDeep returns the token that goes below maxConfigNesting, or nil. Brackets
// nest across lines; a line that starts several block entries ("- - -") nests
// too, while entries on lines of their own need an indent for each level, which
// the size of the file bounds.
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
		if max(brackets, entries) > maxConfigNesting {
			return tk
		}
	}
	return nil
}

// syntax reports why the source is not YAML.
func (r *reader) syntax(err error) {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		r.mistakef(pos{1, 1}, "", "not YAML: %s", err)
		return
	}
	hint := ""
	if msg := at.GetMessage(); strings.Contains(msg, "',' or") {
		// The usual reason: {match: /a/{b}}, or [${NAME}].
		hint = "inside { } and [ ], put quotes around a value that holds a brace, a bracket or a comma"
	}
	r.mistakef(posOf(at.GetToken()), hint, "not YAML: %s", at.GetMessage())
}

// onlyDocument returns the content of the first document, and reports what
// else there is.
func (r *reader) onlyDocument(docs []*ast.DocumentNode) ast.Node {
	var root ast.Node
	seen := false
	for _, doc := range docs {
		_, directive := doc.Body.(*ast.DirectiveNode)
		switch {
		case directive:
			r.mistakef(posOf(doc.Body.GetToken()), "remove the line", "YAML directives are not supported")
		case !seen:
			root, seen = doc.Body, true
		default:
			r.secondDocument(doc)
		}
	}
	return root
}

func (r *reader) secondDocument(doc *ast.DocumentNode) {
	tk := doc.Start
	if tk == nil && doc.Body != nil {
		tk = doc.Body.GetToken()
	}
	if tk != nil {
		r.mistakef(posOf(tk), `remove what follows, and the "---"`, "a second document begins here, and a configuration is one")
	}
}

// plain returns what n is without an anchor or a tag around it, which are
// reported, as aliases are: a value stands where it is used, so that reading
// the file needs no jumping about, and no alias can blow it up. A nil result
// is a value that cannot be read.
func (r *reader) plain(n ast.Node) ast.Node {
	for {
		switch node := n.(type) {
		case *ast.AnchorNode:
			r.mistakef(posOf(node.Start), "write the value where it is used", "anchors are not supported")
			n = node.Value
		case *ast.TagNode:
			r.mistakef(posOf(node.Start), "remove it", "the tag %s is not supported", quote(node.Start.Value))
			n = node.Value
		case *ast.AliasNode:
			r.mistakef(posOf(node.Start), "write the value again, or use an environment variable", "aliases are not supported")
			return nil
		default:
			return n
		}
	}
}

// pairs returns the keys and values of a mapping, without those whose key
// cannot be read. It reports false when n is no mapping.
func (r *reader) pairs(p place, n ast.Node) (_ []*ast.MappingValueNode, ok bool) {
	switch node := r.plain(n).(type) {
	case *ast.MappingNode:
		return node.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}, true
	case nil:
		return nil, false
	default:
		r.wrongShape(p, node, "a mapping of keys to values")
		return nil, false
	}
}

// elements returns the elements of a list. A single value is a list of one.
func (r *reader) elements(p place, n ast.Node) []ast.Node {
	switch node := r.plain(n).(type) {
	case *ast.SequenceNode:
		return node.Values
	case *ast.NullNode:
		r.wrongShape(p, node, "a list")
		return nil
	case nil:
		return nil
	default:
		return []ast.Node{node}
	}
}

// key reads the key of a mapping.
func (r *reader) key(n ast.MapKeyNode) (scalar, bool) {
	switch n.(type) {
	case *ast.MergeKeyNode:
		r.mistakef(posOf(n.GetToken()), "write the keys here", "merge keys are not supported")
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return scalarOf(n), true
	default:
		r.mistakef(posOf(n.GetToken()), "write a plain word", "this cannot be a key")
	}
	return scalar{}, false
}

// scalar reads a single value and expands the environment variables in it.
func (r *reader) scalar(p place, n ast.Node) (scalar, bool) {
	s, ok := r.written(p, n)
	if !ok {
		return s, false
	}
	text, wrong := expand(s.text, r.lookupEnv)
	for _, w := range wrong {
		r.mistakef(r.within(s, w.offset), w.hint, "%s", w.what)
	}
	s.text = text
	return s, len(wrong) == 0
}

// written reads a single value as it stands in the file.
func (r *reader) written(p place, n ast.Node) (s scalar, ok bool) {
	switch node := r.plain(n).(type) {
	case nil:
		return s, false
	case *ast.MappingNode, *ast.MappingValueNode:
		if s, ok := unsplit(node); ok {
			return s, true
		}
		r.wrongShape(p, node, "a single value")
		return s, false
	case *ast.NullNode, *ast.SequenceNode:
		r.wrongShape(p, node, "a single value")
		return s, false
	case *ast.LiteralNode:
		s = scalarOf(node.Value)
		s.pos = posOf(node.Start)
		return s, true
	default:
		return scalarOf(node), true
	}
}

// unsplit puts a plain value together that the YAML parser takes for a mapping
// of one key: in {servers: [http://host:8080]} it splits the URL at its last
// colon, though YAML wants a blank behind a colon that separates.
func unsplit(n ast.Node) (scalar, bool) {
	pair, _ := n.(*ast.MappingValueNode)
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) == 1 && m.Start.Type != token.MappingStartType {
		pair = m.Values[0]
	}
	if pair == nil || pair.Start == nil || pair.Value == nil {
		return scalar{}, false
	}
	left, colon, right := pair.Key.GetToken(), pair.Start, pair.Value.GetToken()
	s := scalarOf(pair.Key)
	s.text += ":" + right.Value
	s.kind = ast.StringType
	return s, adjacent(left, colon) && adjacent(colon, right) && right.Type != token.ImplicitNullType
}

// adjacent reports whether b begins where the plain text of a ends.
func adjacent(a, b *token.Token) bool {
	return a.Position.Line == b.Position.Line &&
		a.Position.Column+utf8.RuneCountInString(a.Value) == b.Position.Column
}

// wrongShape reports a value that is nothing, or is not what it should be.
func (r *reader) wrongShape(p place, n ast.Node, want string) {
	if _, ok := n.(*ast.NullNode); ok {
		r.mistakef(startOf(n), "give it one, or leave it out", "%s has no value", p.name())
		return
	}
	r.mistakef(startOf(n), "", "%s must be %s, not %s", p.name(), want, shape(n))
}

func shape(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	default:
		return "the value " + quote(n.GetToken().Value)
	}
}

// scalar is a single value or a key: its text, and where it stands.
type scalar struct {
	text string
	pos  pos
	kind ast.NodeType
}

func scalarOf(n ast.Node) scalar {
	tk := n.GetToken()
	return scalar{text: tk.Value, pos: posOf(tk), kind: n.Type()}
}

// pos is a place in the file, 1-based; the column counts characters.
type pos struct{ line, col int }

func posOf(tk *token.Token) pos { return pos{tk.Position.Line, tk.Position.Column} }

// startOf returns where n begins: the token of a mapping in block style is the
// colon behind its first key.
func startOf(n ast.Node) pos {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return startOf(n.Values[0])
		}
	case *ast.MappingValueNode:
		return posOf(n.Key.GetToken())
	}
	return posOf(n.GetToken())
}
