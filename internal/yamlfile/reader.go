package yamlfile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/nearest"
)

// A Key is a key of a file with the function that reads its value into a T.
type Key[T any] struct {
	// Path is the path from the root, joined with dots; "*" is any name in a mapping
	// with free names, and any element.
	Path string

	// Read reads the key's value. It is never nil.
	Read ReadFunc[T]

	// Doc is the meaning of the key in a few words, for an index of the keys. A mapping whose keys have one needs none.
	Doc string

	// Required is the hint if the key is missing; empty for optional keys.
	Required string

	// Ambiguous marks a name with other meanings in other mappings. The hint for an
	// unknown key suggests this key only in a mapping of the same name.
	Ambiguous bool

	// Called is the name of the value in messages, with %s for its key in the file;
	// empty is the quoted key.
	Called string

	// Short is the name of the key below for which a single value or a list stands, instead of a mapping.
	Short string

	// Off sets the value off, and Read does not get it. If Off is nil, off is no value of the key: Read reports what
	// to write. A text that is "off" is in quotes.
	Off func(T)

	// Local keys are not inherited from outer places: each place has its own value, which applies there. Those that
	// add up apply in all places inside, too.
	Local, AddsUp bool

	// AnyCase makes names that differ only in upper and lower case the same. It is for the key "*" of a mapping.
	AnyCase bool

	// NotEmpty marks a mapping that Read refuses if it has no keys, so that true does not stand for it.
	NotEmpty bool

	// Zero is what a zero value means to the program, for the description of the key. Nil is nothing.
	Zero any

	// With are keys of the same mapping. An inherited value has a meaning only beside one of them.
	With []string
}

// A ReadFunc reads the value n of the key at p. It reports mistakes in r and returns
// normally.
type ReadFunc[T any] func(r *Reader[T], p Place[T], n *Node)

// Parent returns the path of the mapping that contains k, and the last name of the
// path.
func (k Key[T]) Parent() (path, name string) {
	if i := strings.LastIndexByte(k.Path, '.'); i >= 0 {
		return k.Path[:i], k.Path[i+1:]
	}
	return "", k.Path
}

// A Place is the position of a walk: the path in the schema, the key in the file, and
// the value to be set.
type Place[T any] struct {
	Path string
	Key  Scalar
	To   T
}

// Below returns the place of a key of the mapping at p, or of an element of the list,
// which has the name "*".
func (p Place[T]) Below(name string, k Scalar) Place[T] {
	p.Path, p.Key = child(p.Path, name), k
	return p
}

// A Reader walks a file along a schema.
type Reader[T any] struct {
	*File

	// Schema is the only list of keys, used for reading, for rejecting, and for
	// suggestions for unknown keys.
	Schema []Key[T]

	// Foreign returns the hint for a key that is not in the schema, by its path and its value, or "".
	Foreign func(path string, value *Node) string

	// Expand, if not nil, replaces variables in the text of a single value.
	Expand func(text string) (string, []*Refusal)

	// HasOff makes the text off, without quotes, mean that there is no value; see [Key.Off].
	HasOff bool

	// Positions has the positions of the stored values by path.
	Positions map[string][]Pos
}

// Fields reads a mapping with the keys of the schema.
func (r *Reader[T]) Fields(p Place[T], n *Node) {
	pairs, ok := r.pairs(p, n)
	if !ok {
		return
	}
	if n.about != nil {
		n.about.Fields = true
	}
	given, hints := map[string]bool{}, []string(nil)
	for _, pair := range pairs {
		k := pair.Key
		given[k.Text] = true
		switch found, ok := r.lookup(child(p.Path, k.Text)); {
		case !ok || strings.ContainsAny(k.Text, ".*"):
			hints = append(hints, r.reportUnknownKey(p.Path, k, pair.Value))
		default:
			below := p.Below(k.Text, k)
			if k.Type == implied {
				below.Key.Text = p.Key.Text
			}
			r.read(found, below, pair.Value)
		}
	}
	if n.partial {
		return
	}
	where := p.Key.Pos
	if p.Path == "" {
		where = Pos{Line: 1, Col: 1}
	}
	for _, k := range r.children(p.Path) {
		_, name := k.Parent()
		meant := func(hint string) bool {
			after, says := strings.CutPrefix(hint+" ", "write "+name)
			return hint == DidYouMean(name) || says && strings.ContainsRune(":, ", rune(after[0]))
		}
		if !given[name] && k.Required != "" && !slices.ContainsFunc(hints, meant) {
			r.Mistakef(where, k.Required, "%s has no %s", r.name(p), Quote(name))
		}
	}
}

// Names reads a mapping whose keys are names that the user chooses.
func (r *Reader[T]) Names(p Place[T], n *Node) {
	pairs, ok := r.pairs(p, n)
	if !ok {
		return
	}
	if n.about != nil {
		n.about.Names = true
	}
	each, _ := r.lookup(child(p.Path, "*"))
	for _, pair := range pairs {
		r.read(each, p.Below("*", pair.Key), pair.Value)
	}
	if own, _ := r.lookup(p.Path); own.Required != "" {
		r.RefuseEmpty(p, n)
	}
}

// Entries reads the elements of a list, which must not be empty, or a single one.
func (r *Reader[T]) Entries(p Place[T], n *Node) {
	if r.RefuseEmpty(p, n) {
		return
	}
	each, _ := r.lookup(child(p.Path, "*"))
	for _, element := range r.Elements(p, n) {
		r.read(each, p.Below("*", Scalar{Pos: element.Pos}), element)
	}
}

// RefuseEmpty adds a mistake if a list or mapping that must not be empty is, and
// reports whether it did. A mapping whose values are all off is empty only if its key is required.
func (r *Reader[T]) RefuseEmpty(p Place[T], n *Node) bool {
	if n.about != nil {
		n.about.Filled = true
	}
	if n.Kind != List && n.Kind != Mapping || len(n.Items) != 0 || len(n.Pairs) != 0 {
		return false
	}
	own, _ := r.lookup(p.Path)
	if n.reduced && (own.Required == "" || n.about != nil) {
		return false
	}
	r.Mistakef(n.Pos, cmp.Or(own.Required, "give it at least one, or leave it out"), "%s is empty", r.name(p))
	return true
}

// Elements returns the elements of a list. A single value counts as a list of one.
func (r *Reader[T]) Elements(p Place[T], n *Node) []*Node {
	if n.about != nil {
		n.about.List = true
	}
	switch n.Kind {
	case List:
		return n.Items
	case Null:
		r.reportShape(p, n, "a list")
		return nil
	case Bad:
		return nil
	default:
		return []*Node{n}
	}
}

// pairs returns the keys and values of a mapping, and false if n is not a mapping.
func (r *Reader[T]) pairs(p Place[T], n *Node) ([]Pair, bool) {
	switch n.Kind {
	case Mapping:
		return n.Pairs, true
	case Bad:
	default:
		r.reportShape(p, n, "a mapping of keys to values")
	}
	return nil, false
}

// Single returns a single value, expanded.
func (r *Reader[T]) Single(p Place[T], n *Node) (s Scalar, ok bool) {
	switch n.Kind {
	case Single:
	case Bad:
		return s, false
	default:
		r.reportShape(p, n, "a single value")
		return s, false
	}
	s = n.Scalar()
	if n.about != nil {
		n.about.Single = true
	}
	if r.Expand == nil {
		return s, true
	}
	text, wrong := r.Expand(s.Text)
	for _, w := range wrong {
		r.Mistakef(r.Within(s, w.Offset), w.Hint, "%s", w.What)
	}
	s.Text = text
	return s, len(wrong) == 0
}

// reportShape reports a missing value or one of the wrong kind.
func (r *Reader[T]) reportShape(p Place[T], n *Node, want string) {
	if n.Kind == Null {
		r.Mistakef(n.Pos, "give it one, or leave it out", "%s has no value", r.name(p))
		return
	}
	if r.IsOff(n) {
		r.refuseOff(p, n)
		return
	}
	hint, names := "", r.names(p.Path)
	if what, write := r.notKey(n, names); what != "" {
		r.Mistakef(n.Pos, write, "%s", what)
		return
	}
	if n.Kind == Single && yes(n.Text) && r.plain(n) != "true" && r.takesTrue(p.Path) {
		hint = "write true"
	} else if n.Kind == List && len(n.Items) > 0 && n.Items[0].Kind == Mapping {
		hint = "write its keys without dashes"
	} else if p.Path != "" && n.Kind != Mapping && len(names) > 0 {
		hint = "its keys are " + strings.Join(names, ", ")
	} else if own, ok := r.lookup(p.Path); ok && n.Kind == Mapping {
		hint = own.Required
	}
	r.Mistakef(n.Pos, hint, "%s must be %s, not %s", r.name(p), want, shape(n))
}

// notKey returns what is wrong with a plain value in place of a mapping with some keys, and what to write, if it seems to
// be meant as one. Otherwise it returns "".
func (r *Reader[T]) notKey(n *Node, names []string) (what, hint string) {
	if n.Kind != Single || n.Quoted {
		return "", ""
	}
	f := n.Pos.in(r.File)
	at := f.clamp(n.Pos)
	text := strings.TrimSpace(string([]rune(f.lines[at.Line-1])[at.Col-1:]))
	if first := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t=:;{", c) }); n.Pos.Col > 1 &&
		(len(first) == 0 || !slices.Contains(names, first[0])) {
		return "", ""
	}
	return notKey(text)
}

// takesTrue reports whether true stands for the mapping at a path, with its defaults. An element and what has a name
// of the user have none.
func (r *Reader[T]) takesTrue(path string) bool {
	own, _ := r.lookup(path)
	needsKey := slices.ContainsFunc(r.children(path), func(k Key[T]) bool { return k.Required != "" })
	return last(path) != "*" && len(r.names(path)) > 0 && own.Short == "" && !own.NotEmpty && !needsKey
}

func shape(n *Node) string {
	switch n.Kind {
	case Mapping:
		return "a mapping"
	case List:
		if len(n.Items) == 0 {
			return "an empty list"
		}
		return "a list"
	default:
		return "the value " + Quote(n.Text)
	}
}

// name returns the name of the value at p in messages.
func (r *Reader[T]) name(p Place[T]) string {
	if p.Path == "" {
		return "the file"
	}
	own, _ := r.lookup(p.Path)
	return strings.ReplaceAll(cmp.Or(own.Called, "%s"), "%s", Quote(p.Key.Text))
}

// One returns a reader of a single value with the given parser.
func One[T, V any](parse func(Scalar) (V, *Refusal), at func(T) *V) ReadFunc[T] {
	return func(r *Reader[T], p Place[T], n *Node) {
		if n.about != nil {
			n.DescribeUnset(*at(p.To))
		}
		if v, ok := ReadOne(r, p, n, parse); ok {
			*at(p.To) = v
			r.Positions[p.Path] = []Pos{n.Pos}
		}
	}
}

// ReadOne reads a single value with the given parser.
func ReadOne[T, V any](r *Reader[T], p Place[T], n *Node, parse func(Scalar) (V, *Refusal)) (v V, ok bool) {
	s, ok := r.Single(p, n)
	if !ok {
		return v, false
	}
	if n.about != nil {
		describeParser(n.about, parse)
		return v, false
	}
	v, refused := parse(s)
	if refused != nil {
		r.Refuse(s, refused.forWriting(s))
		return v, false
	}
	return v, true
}

// describeParser notes the parser of a single value.
func describeParser[V any](d *Description, parse func(Scalar) (V, *Refusal)) {
	if d.parse != nil {
		return
	}
	d.parse = func(text, kind string) (any, bool) {
		v, refused := parse(Scalar{Text: text, Type: kind})
		if s, ok := any(v).(Scalar); ok {
			return s.Text, refused == nil
		}
		return v, refused == nil
	}
	parse(Scalar{Type: "string", about: d})
}

// Many returns a reader of a list without duplicates, or of a single value as a list of
// one. The values replace the default.
func Many[T any, V comparable](parse func(Scalar) (V, *Refusal), at func(T) *[]V) ReadFunc[T] {
	return func(r *Reader[T], p Place[T], n *Node) {
		list := at(p.To)
		if n.about != nil {
			n.DescribeUnset(slices.Clone(*list))
		}
		*list = nil
		first := map[V]Pos{}
		for _, element := range r.Elements(p, n) {
			v, ok := ReadOne(r, p, element, parse)
			if !ok {
				continue
			}
			if before, again := first[v]; again {
				r.Mistakef(element.Pos, "keep one of the two", "%v is given twice, first on line %d", v, before.Line)
				continue
			}
			first[v] = element.Pos
			*list = append(*list, v)
			r.Positions[p.Path] = append(r.Positions[p.Path], element.Pos)
		}
	}
}

// Some is Many for a list that must not be empty.
func Some[T any, V comparable](parse func(Scalar) (V, *Refusal), at func(T) *[]V) ReadFunc[T] {
	read := Many(parse, at)
	return func(r *Reader[T], p Place[T], n *Node) {
		if !r.RefuseEmpty(p, n) {
			read(r, p, n)
		}
	}
}

// children returns the keys of the mapping at path.
func (r *Reader[T]) children(path string) []Key[T] {
	return slices.DeleteFunc(slices.Clone(r.Schema), func(k Key[T]) bool {
		parent, name := k.Parent()
		return parent != path || name == "*"
	})
}

// child returns the path of name below path.
func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// lookup returns the key at path.
func (r *Reader[T]) lookup(path string) (Key[T], bool) {
	i := slices.IndexFunc(r.Schema, func(k Key[T]) bool { return k.Path == path })
	if i < 0 {
		return Key[T]{}, false
	}
	return r.Schema[i], true
}

// reportUnknownKey reports an unknown key in the mapping at path, and returns the hint.
func (r *Reader[T]) reportUnknownKey(path string, k Scalar, value *Node) (hint string) {
	if r.Foreign != nil {
		hint = r.Foreign(child(path, k.Text), value)
	}
	hint = cmp.Or(hint, r.rightKey(path, k.Text))
	r.Mistakef(k.Pos, hint, "unknown key %s here", Quote(k.Text))
	return hint
}

// rightKey returns the hint for an unknown key: the mapping where it belongs, a similar
// key, or all keys.
func (r *Reader[T]) rightKey(path, name string) string {
	if strings.Contains(name, "${") {
		return "${...} is allowed only in values"
	}
	names := r.names(path)
	if near := nearest.Word(name, names); near != "" {
		return DidYouMean(near)
	}
	if where := r.belongs(path, name); where != "" {
		return where
	}
	return "the keys here are " + strings.Join(names, ", ")
}

// names returns the names of the keys of the mapping at path.
func (r *Reader[T]) names(path string) (names []string) {
	for _, k := range r.children(path) {
		_, own := k.Parent()
		names = append(names, own)
	}
	return names
}

// belongs returns the hint for a name that is a key elsewhere: below the mapping at
// path, or in another part of the file. It is "" if several places are equally likely.
func (r *Reader[T]) belongs(path, name string) string {
	var below, elsewhere []string
	for _, k := range r.Schema {
		parent, own := k.Parent()
		switch inside, ok := strings.CutPrefix(parent, path+"."); {
		case own != name || k.Ambiguous && last(parent) != last(path):
		case parent == "":
			return Quote(name) + " belongs at the top of the file"
		case ok && inside == "*": // an element of this mapping has no name to write
		case path == "" || !ok:
			elsewhere = append(elsewhere, Quote(r.written(parent)))
		default:
			below = append(below, Quote(inside))
		}
	}
	if below == nil {
		below = elsewhere
	}
	if len(below) == 0 || len(below) > 2 {
		return ""
	}
	return Quote(name) + " belongs under " + strings.Join(below, " or ")
}

// last returns the last name of a path.
func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// written returns a path for messages: elements of lists are omitted, and any other "*"
// becomes NAME.
func (r *Reader[T]) written(path string) string {
	for prefix, rest, found := strings.Cut(path, ".*"); found; prefix, rest, found = strings.Cut(path, ".*") {
		name := ".NAME"
		if each, _ := r.lookup(prefix + ".*"); each.Called != "" && !strings.Contains(each.Called, "%s") {
			name = ""
		}
		path = prefix + name + rest
	}
	return path
}
