package yamlfile

import (
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A Node is a value of a file.
type Node struct {
	Kind   Kind
	Pos    Pos     // of its first character
	Text   string  // of a Single, without quotes and escapes
	Type   string  // of a Single, the YAML type: string, integer, float, bool, infinity, nan
	Quoted bool    // of a Single, it is not plain text in the file
	Items  []*Node // of a List
	Pairs  []Pair  // of a Mapping, with unique keys

	about   *Description // not nil in a value by which a key is described
	written string       // the form in a file, if it is not that of Text; see Flow
	reduced bool         // of a Mapping, off has removed keys of outer places
	partial bool         // of a Mapping, a key that was reported may stand for others, such as <<
}

// IsReduced reports whether off has removed keys of the mapping that outer places have.
func (n *Node) IsReduced() bool { return n.reduced }

// IsPartial reports whether a mistake has been reported that hides keys of a Mapping, so that it may only seem to lack one.
func (n *Node) IsPartial() bool { return n.partial || n.Kind == Bad }

// A Kind is the shape of a Node.
type Kind uint8

// The kinds. A Bad node is invalid; its mistake has been reported.
const (
	Bad Kind = iota
	Null
	Single
	List
	Mapping
)

// A Pair is a key of a mapping and its value.
type Pair struct {
	Key   Scalar
	Value *Node
}

// A Scalar is a single value or a key: its text and its position.
type Scalar struct {
	Text   string
	Pos    Pos
	Type   string // the YAML type; see Node
	Quoted bool   // see Node

	about *Description // see Describe
}

// Scalar returns a Single as a Scalar.
func (n *Node) Scalar() Scalar { return Scalar{n.Text, n.Pos, n.Type, n.Quoted, n.about} }

// Describe adds to the form of the values that a parser accepts if it is called for a description, and otherwise has no
// effect. Parsers call it first. The Words of several calls add up; otherwise the first call counts, so that a parser
// that uses another one describes its own values.
func (s Scalar) Describe(f Form) {
	if s.about == nil {
		return
	}
	words := append(s.about.Words, f.Words...)
	if s.about.Name == "" {
		s.about.Form = f
	}
	s.about.Words = words
}

// DescribeUnset notes, for a description, the value that a key has before it is read.
func (n *Node) DescribeUnset(v any) {
	if n.about != nil && n.about.unset == nil {
		n.about.unset = v
	}
}

// node converts a node of the YAML parser.
func (f *File) node(n ast.Node) *Node {
	switch n := f.plain(n).(type) {
	case nil:
		return &Node{}
	case *ast.MappingNode:
		return f.mapping(n, n.Values)
	case *ast.MappingValueNode:
		return f.mapping(n, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		list := &Node{Kind: List, Pos: f.startOf(n)}
		for _, item := range n.Values {
			list.Items = append(list.Items, f.node(item))
		}
		return list
	case *ast.NullNode:
		return &Node{Kind: Null, Pos: f.startOf(n)}
	case *ast.LiteralNode:
		s := f.scalarOf(n.Value)
		s.Pos, s.Quoted = f.posOf(n.Start), true
		return single(s)
	default:
		return single(f.scalarOf(n))
	}
}

func single(s Scalar) *Node {
	return &Node{Kind: Single, Text: s.Text, Pos: s.Pos, Type: s.Type, Quoted: s.Quoted}
}

// plain removes anchors and tags from n and reports them and aliases as mistakes: each
// value has to be written where it is used, so that a reader need not search for it and
// aliases cannot expand to a huge tree. The result is nil if the value is invalid.
func (f *File) plain(n ast.Node) ast.Node {
	for {
		switch node := n.(type) {
		case *ast.AnchorNode:
			f.Mistakef(f.posOf(node.Start), f.repeat("write the value where it is used"), "anchors are not supported")
			n = node.Value
		case *ast.TagNode:
			f.Mistakef(f.posOf(node.Start), "remove it", "the tag %s is not supported", Quote(node.Start.Value))
			n = node.Value
		case *ast.AliasNode:
			hint := f.repeat("write the value again")
			if name := node.Value.GetToken().Value; strings.ContainsAny(name, ":./") {
				hint = "put quotes around " + Quote("*"+name)
			}
			f.Mistakef(f.posOf(node.Start), hint, "aliases are not supported")
			return nil
		default:
			return n
		}
	}
}

// mapping converts the valid keys. Of duplicate keys, it reports the second.
func (f *File) mapping(n ast.Node, values []*ast.MappingValueNode) *Node {
	if s, ok := f.unsplit(n); ok {
		return single(s)
	}
	m := &Node{Kind: Mapping, Pos: f.startOf(n)}
	first := map[string]Pos{}
	for _, pair := range values {
		key, ok := f.key(pair.Key)
		if !ok {
			m.partial = true
			continue
		}
		value := f.node(pair.Value)
		if before, again := first[key.Text]; again {
			f.Mistakef(key.Pos, "keep one of the two", "%s is given twice, first on line %d",
				Quote(key.Text), before.Line)
			continue
		}
		first[key.Text] = key.Pos
		m.Pairs = append(m.Pairs, Pair{key, value})
	}
	if len(m.Pairs) == 0 && len(values) > 0 {
		m.Kind = Bad
	}
	return m
}

// key converts the key of a mapping.
func (f *File) key(n ast.MapKeyNode) (Scalar, bool) {
	if isPlain(n) {
		return f.scalarOf(n), true
	}
	if _, merge := n.(*ast.MergeKeyNode); merge {
		f.Mistakef(f.posOf(n.GetToken()), f.repeat("write the keys here"), "merge keys are not supported")
	} else {
		f.Mistakef(f.posOf(n.GetToken()), "write a plain word", "this cannot be a key")
	}
	return Scalar{}, false
}

// isPlain reports whether n is a single value on a line.
func isPlain(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode,
		*ast.NanNode:
		return true
	}
	return false
}

// unsplit joins a plain value that the YAML parser has split into a mapping of one key.
// In {servers: [http://host:8080]} it splits the URL at its last colon, although in
// YAML only a colon before a blank separates.
func (f *File) unsplit(n ast.Node) (Scalar, bool) {
	pair, _ := n.(*ast.MappingValueNode)
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) == 1 && m.Start.Type != token.MappingStartType {
		pair = m.Values[0]
	}
	if pair == nil || pair.Start == nil {
		return Scalar{}, false
	}
	if !isPlain(pair.Key) || !isPlain(pair.Value) {
		return Scalar{}, false
	}
	left, colon, right := pair.Key.GetToken(), pair.Start, pair.Value.GetToken()
	s := f.scalarOf(pair.Key)
	s.Text += ":" + right.Value
	s.Type = "string"
	return s, adjacent(left, colon) && adjacent(colon, right) && right.Type != token.ImplicitNullType
}

// adjacent reports whether b begins where the plain text of a ends.
func adjacent(a, b *token.Token) bool {
	return a.Position.Line == b.Position.Line &&
		a.Position.Column+utf8.RuneCountInString(a.Value) == b.Position.Column
}

func (f *File) scalarOf(n ast.Node) Scalar {
	tk := n.GetToken()
	return Scalar{Text: tk.Value, Pos: f.posOf(tk), Type: strings.ToLower(n.Type().String()),
		Quoted: tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType}
}

// startOf returns the position of n. For a mapping in block style, the token is the
// colon after its first key.
func (f *File) startOf(n ast.Node) Pos {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return f.startOf(n.Values[0])
		}
	case *ast.MappingValueNode:
		return f.posOf(n.Key.GetToken())
	}
	return f.posOf(n.GetToken())
}
