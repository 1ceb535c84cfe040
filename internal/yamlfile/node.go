package yamlfile

import (
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A Node is a value of a file.
type Node struct {
	Kind  Kind
	Pos   Pos     // where it begins
	Text  string  // of a Single, as YAML reads quotes and escapes
	Type  string  // of a Single: what YAML takes it for: string, integer, float, bool, infinity, nan
	Items []*Node // of a List
	Pairs []Pair  // of a Mapping, no key twice
}

// A Kind is the shape of a Node.
type Kind uint8

// The kinds. A Bad node could not be read, which has been noted.
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

// A Scalar is a single value, or a key: its text, and where it stands.
type Scalar struct {
	Text string
	Pos  Pos
	Type string // what YAML takes it for; see Node
}

// Scalar returns what a Single is.
func (n *Node) Scalar() Scalar { return Scalar{n.Text, n.Pos, n.Type} }

// node makes a tree of what the YAML parser has made.
func (f *File) node(n ast.Node) *Node {
	switch n := f.plain(n).(type) {
	case nil:
		return &Node{}
	case *ast.MappingNode:
		return f.mapping(n, n.Values)
	case *ast.MappingValueNode:
		return f.mapping(n, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		list := &Node{Kind: List, Pos: startOf(n)}
		for _, item := range n.Values {
			list.Items = append(list.Items, f.node(item))
		}
		return list
	case *ast.NullNode:
		return &Node{Kind: Null, Pos: startOf(n)}
	case *ast.LiteralNode:
		s := scalarOf(n.Value)
		s.Pos = posOf(n.Start)
		return single(s)
	default:
		return single(scalarOf(n))
	}
}

func single(s Scalar) *Node { return &Node{Kind: Single, Text: s.Text, Pos: s.Pos, Type: s.Type} }

// plain returns what n is without an anchor or a tag around it, which are
// reported, as aliases are: a value stands where it is used, so that reading
// the file needs no jumping about, and no alias can blow it up. A nil result
// is a value that cannot be read.
func (f *File) plain(n ast.Node) ast.Node {
	for {
		switch node := n.(type) {
		case *ast.AnchorNode:
			f.Mistakef(posOf(node.Start), "write the value where it is used", "anchors are not supported")
			n = node.Value
		case *ast.TagNode:
			f.Mistakef(posOf(node.Start), "remove it", "the tag %s is not supported", Quote(node.Start.Value))
			n = node.Value
		case *ast.AliasNode:
			f.Mistakef(posOf(node.Start), "write the value again", "aliases are not supported")
			return nil
		default:
			return n
		}
	}
}

// mapping makes a tree of the keys that can be read. Of a key that is given
// twice the second one is reported.
func (f *File) mapping(n ast.Node, values []*ast.MappingValueNode) *Node {
	if s, ok := unsplit(n); ok {
		return single(s)
	}
	m := &Node{Kind: Mapping, Pos: startOf(n)}
	first := map[string]Pos{}
	for _, pair := range values {
		key, ok := f.key(pair.Key)
		if !ok {
			continue
		}
		value := f.node(pair.Value)
		if before, again := first[key.Text]; again {
			f.Mistakef(key.Pos, "keep one of the two", "%s is given twice, first on line %d", Quote(key.Text), before.Line)
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

// key reads the key of a mapping.
func (f *File) key(n ast.MapKeyNode) (Scalar, bool) {
	if isPlain(n) {
		return scalarOf(n), true
	}
	if _, merge := n.(*ast.MergeKeyNode); merge {
		f.Mistakef(posOf(n.GetToken()), "write the keys here", "merge keys are not supported")
	} else {
		f.Mistakef(posOf(n.GetToken()), "write a plain word", "this cannot be a key")
	}
	return Scalar{}, false
}

// isPlain tells whether n is a single value on a line.
func isPlain(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return true
	}
	return false
}

// unsplit puts a plain value together that the YAML parser takes for a mapping
// of one key: in {servers: [http://host:8080]} it splits the URL at its last
// colon, though YAML wants a blank behind a colon that separates.
func unsplit(n ast.Node) (Scalar, bool) {
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
	s := scalarOf(pair.Key)
	s.Text += ":" + right.Value
	s.Type = "string"
	return s, adjacent(left, colon) && adjacent(colon, right) && right.Type != token.ImplicitNullType
}

// adjacent reports whether b begins where the plain text of a ends.
func adjacent(a, b *token.Token) bool {
	return a.Position.Line == b.Position.Line &&
		a.Position.Column+utf8.RuneCountInString(a.Value) == b.Position.Column
}

func scalarOf(n ast.Node) Scalar {
	tk := n.GetToken()
	return Scalar{Text: tk.Value, Pos: posOf(tk), Type: strings.ToLower(n.Type().String())}
}

// startOf returns where n begins: the token of a mapping in block style is the
// colon behind its first key.
func startOf(n ast.Node) Pos {
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
