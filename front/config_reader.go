package front

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/weirhq/weir/router"
)

// reader walks a file and fills a Config, noting every mistake on the way.
type reader struct {
	file      string
	src       []byte
	lines     []string
	lookupEnv func(string) (string, bool)
	schema    []key // the table of that name: its readers cannot refer to it by name, being part of it
	mistakes  Mistakes

	// What the checks need that look at several keys at once.
	stood       map[string][]pos // by path: where each value stands that was stored
	constraints router.Constraints
	upstreams   map[string]pos // by name; nil while there is none
	routes      []*routeDraft
}

func newReader(file string, src []byte, lookupEnv func(string) (string, bool)) *reader {
	if lookupEnv == nil {
		lookupEnv = func(string) (string, bool) { return "", false }
	}
	src = []byte(strings.TrimPrefix(string(src), "\ufeff"))
	return &reader{
		file:      file,
		src:       src,
		lines:     strings.Split(string(src), "\n"),
		lookupEnv: lookupEnv,
		schema:    schema,
		stood:     map[string][]pos{},
	}
}

// place is where the walk stands: the path in the schema, the key that led
// there, and the parts of the configuration that are being filled.
type place struct {
	path     string
	key      scalar
	config   *Config
	upstream *UpstreamConfig
	route    *routeDraft
}

// name returns what to call the place in a message.
func (p place) name() string {
	switch {
	case p.path == "":
		return "the file"
	case p.path == "routes.*":
		return "a route"
	case p.path == "upstreams.*":
		return "upstream " + quote(p.key.text)
	default:
		return quote(p.key.text)
	}
}

// below returns the place of a key of the mapping at p.
func (p place) below(name string, k scalar) place {
	p.path, p.key = child(p.path, name), k
	return p
}

// fields reads a mapping whose keys the schema lists.
func (r *reader) fields(p place, n ast.Node) {
	pairs, ok := r.pairs(p, n)
	if !ok {
		return
	}
	given := r.each(pairs, func(k scalar, value ast.Node) {
		switch found, ok := r.lookup(child(p.path, k.text)); {
		case !ok || strings.ContainsAny(k.text, ".*"):
			r.unknownKey(p.path, k)
		case found.later != "":
			r.notSupported(k, found.later)
		default:
			found.read(r, p.below(k.text, k), value)
		}
	})
	where := p.key.pos
	if p.path == "" {
		where = pos{1, 1}
	}
	for _, k := range r.children(p.path) {
		_, name := k.parent()
		if _, ok := given[name]; !ok && k.required != "" {
			r.mistakef(where, k.required, "%s has no %s", p.name(), quote(name))
		}
	}
}

// names reads a mapping whose keys are names that the file gives.
func (r *reader) names(p place, n ast.Node) {
	pairs, ok := r.pairs(p, n)
	if !ok {
		return
	}
	each, _ := r.lookup(child(p.path, "*"))
	r.each(pairs, func(k scalar, value ast.Node) {
		each.read(r, p.below("*", k), value)
	})
	if own, _ := r.lookup(p.path); own.required != "" {
		r.refuseEmpty(p, n)
	}
}

// refuseEmpty reports a list or mapping that has to hold something, and
// whether it holds nothing.
func (r *reader) refuseEmpty(p place, n ast.Node) bool {
	list, isList := n.(*ast.SequenceNode)
	mapping, isMapping := n.(*ast.MappingNode)
	empty := isList && len(list.Values) == 0 || isMapping && len(mapping.Values) == 0
	if empty {
		own, _ := r.lookup(p.path)
		r.mistakef(startOf(n), cmp.Or(own.required, "it needs one at least"), "%s is empty", p.name())
	}
	return empty
}

// each calls read for every pair whose key can be read, and returns where the
// keys stand. A key that was there before is reported instead.
func (r *reader) each(pairs []*ast.MappingValueNode, read func(k scalar, value ast.Node)) map[string]pos {
	first := map[string]pos{}
	for _, pair := range pairs {
		k, ok := r.key(pair.Key)
		if !ok {
			continue
		}
		if before, again := first[k.text]; again {
			r.mistakef(k.pos, "keep one of the two", "%s is given twice, first on line %d", quote(k.text), before.line)
			continue
		}
		first[k.text] = k.pos
		read(k, pair.Value)
	}
	return first
}

// one returns a reader of a single value that parse understands.
func one[T any](parse func(scalar) (T, *refusal), at func(place) *T) readFunc {
	return func(r *reader, p place, n ast.Node) {
		if v, ok := readOne(r, p, n, parse); ok {
			*at(p) = v
			r.stood[p.path] = []pos{startOf(n)}
		}
	}
}

func readOne[T any](r *reader, p place, n ast.Node, parse func(scalar) (T, *refusal)) (v T, ok bool) {
	s, ok := r.scalar(p, n)
	if !ok {
		return v, false
	}
	v, refused := parse(s)
	if refused != nil {
		r.mistakef(s.pos, refused.hint, "%s", refused.what)
		return v, false
	}
	return v, true
}

// many returns a reader of a list, or of a single value as a list of one. The
// values given replace the default ones.
func many[T comparable](parse func(scalar) (T, *refusal), at func(place) *[]T) readFunc {
	return func(r *reader, p place, n ast.Node) {
		list := at(p)
		*list = nil
		first := map[T]pos{}
		for _, element := range r.elements(p, n) {
			v, ok := readOne(r, p, element, parse)
			if !ok {
				continue
			}
			if before, again := first[v]; again {
				r.mistakef(startOf(element), "keep one of the two", "%v is given twice, first on line %d", v, before.line)
				continue
			}
			first[v] = startOf(element)
			*list = append(*list, v)
			r.stood[p.path] = append(r.stood[p.path], startOf(element))
		}
	}
}

// some is many for a list that may not be empty.
func some[T comparable](parse func(scalar) (T, *refusal), at func(place) *[]T) readFunc {
	read := many(parse, at)
	return func(r *reader, p place, n ast.Node) {
		if !r.refuseEmpty(p, n) {
			read(r, p, n)
		}
	}
}

// refusal is why a value is not what it should be, and what to do about it.
type refusal struct{ what, hint string }

func refuse(hint, format string, args ...any) *refusal {
	return &refusal{what: fmt.Sprintf(format, args...), hint: hint}
}

// notSupported reports a key or value that Weir knows but has not built.
func (r *reader) notSupported(s scalar, hint string) {
	r.mistakef(s.pos, hint, "%s is not supported yet", quote(s.text))
}

// mistakef notes a mistake at a place of the file.
func (r *reader) mistakef(at pos, hint, format string, args ...any) {
	at = r.clamp(at)
	r.mistakes = append(r.mistakes, Mistake{
		File: r.file,
		Line: at.line,
		Col:  at.col,
		What: printable(fmt.Sprintf(format, args...)),
		Hint: printable(hint),
	})
}

// clamp moves a place into the file. The YAML parser says column 0 of a value
// that begins on a line of its own, and the line below the last of an end.
func (r *reader) clamp(at pos) pos {
	line := min(max(at.line, 1), len(r.lines))
	return pos{line, min(max(at.col, 1), 1+utf8.RuneCountInString(r.lines[line-1]))}
}

// within returns the place of the byte at offset in the text of s, as far as
// the text stands in the file as it is. Behind an escape, a replaced variable
// or the end of a line, it is where s begins.
func (r *reader) within(s scalar, offset int) pos {
	at := r.clamp(s.pos)
	line := []rune(r.lines[at.line-1])
	rest := string(line[at.col-1:])
	if offset > len(s.text) {
		return at
	}
	before := s.text[:offset]
	for _, quote := range []string{`"`, "'", ""} {
		if strings.HasPrefix(rest, quote+before) {
			return pos{at.line, at.col + utf8.RuneCountInString(quote+before)}
		}
	}
	return at
}

// quote returns s as it may be printed to a terminal, cut when it is long.
func quote(s string) string {
	const longest = 100
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// printable replaces what a terminal might act on or a line cannot hold.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, s)
}
