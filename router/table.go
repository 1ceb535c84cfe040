package router

import (
	"errors"
	"maps"
	"slices"
)

// An Entry is one pattern of a table and what it stands for.
type Entry[T any] struct {
	Pattern string
	Value   T
}

// A Table maps requests to values. It never changes, and any number of
// goroutines may look up in it at once. The zero Table matches nothing.
type Table[T any] struct {
	program     *program
	constraints Constraints
	entries     []Entry[T]
}

// NewTable returns the table of the entries, whose order does not matter. The
// error, if any, joins (see errors.Join) a *[Mistake] for every pattern that
// cannot be parsed and every pattern that conflicts with an earlier one, in the
// order of the entries. The table keeps neither the slice nor the map.
func NewTable[T any](c Constraints, entries []Entry[T]) (*Table[T], error) {
	b := newBuilder(c)
	var mistakes []error
	for i := range entries {
		if m := b.add(entries[i].Pattern, i); m != nil {
			mistakes = append(mistakes, m)
		}
	}
	if mistakes != nil {
		return nil, errors.Join(mistakes...)
	}
	return newTable(b, entries), nil
}

// newTable returns the table of the entries that a builder has, in its order.
func newTable[T any](b *builder, entries []Entry[T]) *Table[T] {
	return &Table[T]{
		program:     compile(&b.tree, len(entries)),
		constraints: maps.Clone(b.constraints),
		entries:     slices.Clone(entries),
	}
}

// Lookup finds the entry for a request; nobody may write to it. It is nil when
// no pattern matches. If patterns match the path then, but none of them the
// method, allow has the methods that they do take, as the Allow header of the
// answer 405 lists them, such as "GET, HEAD, POST".
//
// The host may have a port and be in any case. The path is given as net/url
// has it in URL.Path and URL.RawPath: unescaped, and escaped where the first is
// ambiguous, as for "/a%2Fb"; else the second is "". When it is not, it alone
// counts, so that a path as it was sent can be looked up as "" and that. The
// path is cleaned by the caller if "//" or ".." have a meaning to it. One that
// does not begin with a slash matches nothing.
//
// The parameters go into p, which may be nil when nobody wants them and is
// empty when nothing was found. Lookup allocates nothing once p has been used,
// but for a raw path with a '%', a host in upper case, and the Allow of several
// patterns at once.
func (t *Table[T]) Lookup(method, host, path, rawPath string, p *Params) (e *Entry[T], allow string) {
	i, allow := t.program.lookup(method, path, rawPath, p, host)
	if i >= 0 {
		e = &t.entries[i]
	}
	return e, allow
}

// String draws the patterns as a tree, a line for each segment in the order in which a
// lookup tries them, with the patterns that end there.
func (t *Table[T]) String() string {
	b := newBuilder(t.constraints)
	for i := range t.entries {
		b.add(t.entries[i].Pattern, i)
	}
	return b.tree.draw()
}
