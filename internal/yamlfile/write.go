package yamlfile

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
)

// Value returns the value of n: nil, the text of a single value, []any or a
// yaml.MapSlice.
func (n *Node) Value() any {
	switch n.Kind {
	case Single:
		return n.Text
	case List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Value()
		}
		return list
	case Mapping:
		m := make(yaml.MapSlice, len(n.Pairs))
		for i, pair := range n.Pairs {
			m[i] = yaml.MapItem{Key: pair.Key.Text, Value: pair.Value.Value()}
		}
		return m
	default:
		return nil
	}
}

// Of returns the node for a value. It accepts the types that Value returns, []string,
// and maps, with their keys sorted. Other values become text by fmt.Sprint.
func Of(value any) *Node {
	switch v := value.(type) {
	case nil:
		return &Node{Kind: Null}
	case *Node:
		return v
	case yaml.MapSlice:
		m := &Node{Kind: Mapping}
		for _, item := range v {
			m.Add(fmt.Sprint(item.Key), Of(item.Value))
		}
		return m
	case []string:
		return listOf(v)
	case []any:
		return listOf(v)
	case map[string]any:
		return mappingOf(v)
	case map[string]string:
		return mappingOf(v)
	default:
		return &Node{Kind: Single, Text: fmt.Sprint(v), Type: "string"}
	}
}

func listOf[V any](values []V) *Node {
	list := &Node{Kind: List}
	for _, v := range values {
		list.Items = append(list.Items, Of(v))
	}
	return list
}

func mappingOf[V any](values map[string]V) *Node {
	m := &Node{Kind: Mapping}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		m.Add(key, Of(values[key]))
	}
	return m
}

// Add appends a key to a mapping.
func (n *Node) Add(key string, value *Node) {
	n.Pairs = append(n.Pairs, Pair{Scalar{Text: key, Type: "string"}, value})
}

// Format returns n as a file that Read parses into the same tree. Mappings have a line
// for each key, except mappings in lists.
func (n *Node) Format() []byte {
	var b strings.Builder
	if n.Kind == Mapping && len(n.Pairs) > 0 {
		n.block(&b, 0)
	} else {
		n.flow(&b)
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// Flow returns n on one line. A text that was in quotes because it looks like a value of
// another type, or like off, is in quotes again.
func (n *Node) Flow() string {
	var b strings.Builder
	n.asTyped().flow(&b)
	return b.String()
}

// asTyped returns n with the quotes of strings that look like values of another type.
func (n *Node) asTyped() *Node {
	typed := *n
	typed.Items, typed.Pairs = nil, nil
	if n.Kind == Single && n.Type == "string" && (n.Quoted && n.Text == "off" || looksTyped.MatchString(n.Text)) {
		typed.written = `"` + n.Text + `"`
	}
	for _, item := range n.Items {
		typed.Items = append(typed.Items, item.asTyped())
	}
	for _, pair := range n.Pairs {
		typed.Pairs = append(typed.Pairs, Pair{pair.Key, pair.Value.asTyped()})
	}
	return &typed
}

// looksTyped matches texts of booleans and numbers.
var looksTyped = regexp.MustCompile(`^(?i:true|false|-?[0-9][0-9.]*)$`)

// block writes the keys of a mapping, each on an indented line.
func (n *Node) block(b *strings.Builder, indent int) {
	for _, pair := range n.Pairs {
		b.WriteString(strings.Repeat(" ", indent))
		b.WriteString(quoted(pair.Key.Text))
		b.WriteByte(':')
		if pair.Value.Kind == Mapping && len(pair.Value.Pairs) > 0 {
			b.WriteByte('\n')
			pair.Value.block(b, indent+2)
			continue
		}
		b.WriteByte(' ')
		pair.Value.flow(b)
		b.WriteByte('\n')
	}
}

// flow writes n on one line.
func (n *Node) flow(b *strings.Builder) {
	switch n.Kind {
	case Single:
		b.WriteString(cmp.Or(n.written, quoted(n.Text)))
	case List:
		b.WriteByte('[')
		for i, item := range n.Items {
			comma(b, i)
			item.flow(b)
		}
		b.WriteByte(']')
	case Mapping:
		b.WriteByte('{')
		for i, pair := range n.Pairs {
			comma(b, i)
			b.WriteString(quoted(pair.Key.Text) + ": ")
			pair.Value.flow(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}

func comma(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(", ")
	}
}

// bare matches texts that never need quotes: words, paths and numbers.
var bare = regexp.MustCompile(`^(?:[A-Za-z_/][A-Za-z0-9_./-]*|-?[0-9][0-9A-Za-z.]*)$`)

// quoted returns a text in YAML, quoted if necessary.
func quoted(s string) string {
	if bare.MatchString(s) && !strings.EqualFold(s, "null") {
		return s
	}
	return inQuotes(s)
}

// inQuotes returns a text in double quotes.
func inQuotes(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		default:
			b.WriteString(escape(c))
		}
	}
	b.WriteByte('"')
	return b.String()
}

func escape(c rune) string {
	text := strconv.FormatInt(int64(c), 16)
	if len(text) <= 4 {
		return `\u` + strings.Repeat("0", 4-len(text)) + text
	}
	return `\U` + strings.Repeat("0", 8-len(text)) + text
}
