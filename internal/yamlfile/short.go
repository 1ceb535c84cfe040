package yamlfile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// read reads the value of a key: off, a short form, or what Read accepts.
func (r *Reader[T]) read(k Key[T], p Place[T], n *Node) {
	if f := p.Key.Pos.file; f != nil && f != r.File { // inherited from another file
		other := *r
		other.File, r = f, &other
	}
	n = r.Normalise(p.Path, n)
	switch before := r.reports; {
	case k.Off != nil && r.IsOff(n):
		k.Off(p.To)
		r.Positions[p.Path] = []Pos{n.Pos}
	case k.Off != nil && r.isOffElsewhere(n):
		r.Mistakef(n.Pos, "write off", "%s is not known here", shape(n))
	default:
		k.Read(r, p, n)
		if r.IsOff(n) && r.reports == before {
			r.refuseOff(p, n)
		}
	}
}

// refuseOff reports off as the value of a key that cannot be off.
func (r *Reader[T]) refuseOff(p Place[T], n *Node) {
	hint := "leave it out"
	if len(r.names(p.Path)) == 0 {
		hint += `, or write "off" in quotes if it is a text`
	}
	own, _ := r.lookup(p.Path)
	r.Mistakef(n.Pos, cmp.Or(own.Required, hint), "%s cannot be off", r.name(p))
}

// implied is the type of the key of a short form, which is not in the file.
const implied = "implied"

// Normalise returns the value of the key at a path as a mapping if it is a short form: the value of the key
// [Key.Short], or true for a mapping with its defaults. Other values are returned as they are.
func (r *Reader[T]) Normalise(path string, n *Node) *Node {
	own, _ := r.lookup(path)
	short, _ := r.lookup(child(path, own.Short))
	switch {
	case n.Kind != Single && n.Kind != List || r.IsOff(n):
	case r.plain(n) == "true" && (own.Short == "" || short.Required != "") && len(r.names(path)) > 0:
		return &Node{Kind: Mapping, Pos: n.Pos}
	case own.Short != "":
		return spelledOut(own.Short, n)
	}
	return n
}

// spelledOut returns the mapping for which the short form n of a key stands.
func spelledOut(short string, n *Node) *Node {
	return &Node{Kind: Mapping, Pos: n.Pos, Pairs: []Pair{{Scalar{Text: short, Pos: n.Pos, Type: implied}, n}}}
}

// IsOff reports whether n is off without quotes, in a file that has this word.
func (r *Reader[T]) IsOff(n *Node) bool { return r.HasOff && r.plain(n) == "off" }

// plain returns the text of a single value without quotes, with its variables replaced, and otherwise "". Quotes around
// a variable do not make its value a text: they may be needed for the braces.
func (r *Reader[T]) plain(n *Node) string {
	if n.Kind != Single {
		return ""
	}
	if r.Expand != nil {
		if text, _ := r.Expand(n.Text); text != n.Text {
			return text
		}
	}
	if n.Quoted {
		return ""
	}
	return n.Text
}

// isOffElsewhere reports whether n is the way in which other programs, or people who guess, write off.
func (r *Reader[T]) isOffElsewhere(n *Node) bool {
	if n.Kind == List {
		return len(n.Items) == 0
	}
	return meansOff(r.plain(n))
}

// nothing matches a number of nothing, with and without a unit.
var nothing = regexp.MustCompile(`^0+(\.0+)?(?i:%|ns|us|ms|s|m|h|d|b|kib|mib|gib)?(/[smhd])?$`)

// meansOff reports whether a text without quotes is off, or another word for it.
func meansOff(text string) bool {
	return no(text) || nothing.MatchString(text) ||
		slices.Contains([]string{"disable", "unlimited", "infinite", "infinity", "-1"}, strings.ToLower(text))
}
