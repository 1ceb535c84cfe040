package yamlfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Reformat returns src in the canonical layout: two spaces for each level, lists indented, one space before a comment,
// at most one empty line between entries, and quotes only where YAML needs them. A collection in brackets keeps them if
// it fits on one line and contains no comment; the others have a line for each entry. The tree, the order of the keys,
// and the comments with their order stay the same. The name and the kind are for messages, as in [Read]. The error is
// that of [File.Err] if src has mistakes of syntax.
func Reformat(name, kind string, src []byte) ([]byte, error) {
	f, root := Read(name, kind, src)
	if err := f.Err(); err != nil {
		return nil, err
	}
	tokens := lexer.Tokenize(string(f.src))
	comments := f.comments(tokens)
	l := layout{file: f, rest: comments}
	p := printer{fresh: true}
	p.document(l.document(f.parse(tokens)))
	out := p.out()
	if err := sameContent(root, comments, name, kind, out); err != nil {
		return nil, err
	}
	return out, nil
}

// sameContent checks that the result means the same: nobody can have tried all files.
func sameContent(root *Node, comments []comment, name, kind string, out []byte) error {
	f, again := Read(name, kind, out)
	after := f.comments(lexer.Tokenize(string(out)))
	sameText := func(a, b comment) bool { return a.text == b.text }
	if f.Err() == nil && sameTree(root, again) && slices.EqualFunc(comments, after, sameText) {
		return nil
	}
	return fmt.Errorf("%s: a new layout would change its meaning; please report the file as a bug", Printable(name))
}

// sameTree reports whether two trees are equal except for positions.
func sameTree(a, b *Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	samePair := func(a, b Pair) bool {
		return a.Key.Text == b.Key.Text && a.Key.Type == b.Key.Type && sameTree(a.Value, b.Value)
	}
	if meansOff(a.Text) && a.Quoted != b.Quoted {
		return false
	}
	return a.Kind == b.Kind && a.Text == b.Text && a.Type == b.Type &&
		slices.EqualFunc(a.Items, b.Items, sameTree) && slices.EqualFunc(a.Pairs, b.Pairs, samePair)
}

// A comment is a comment of a file.
type comment struct {
	pos   Pos
	text  string // with the "#", without blanks at the end
	own   bool   // it has a line of its own
	blank bool   // an empty line is above it
}

// comments returns the comments among the tokens of f.
func (f *File) comments(tokens token.Tokens) []comment {
	var all []comment
	for _, tk := range tokens {
		if tk.Type != token.CommentType {
			continue
		}
		c := comment{pos: f.posOf(tk), text: strings.TrimRight("#"+tk.Value, " \t\r")}
		c.own = strings.TrimSpace(f.line(c.pos.Line)) == c.text
		c.blank = c.own && f.blankAbove(c.pos.Line)
		all = append(all, c)
	}
	return all
}

// line returns a line of the source, and "" outside of it.
func (f *File) line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return f.lines[n-1]
}

// blankAbove reports whether the line above a line is empty.
func (f *File) blankAbove(line int) bool { return line > 1 && strings.TrimSpace(f.line(line-1)) == "" }
