package router

import (
	"errors"
	"maps"
	"slices"
)

// An Entry is a pattern of a table and its value.
type Entry[T any] struct {
	Pattern string
	Value   T
}

// A Table maps requests to values. It is immutable, and goroutines may share it. The
// zero Table matches nothing.
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

// newTable returns the table of the entries in a builder, in its order.
func newTable[T any](b *builder, entries []Entry[T]) *Table[T] {
	return &Table[T]{
		program:     compile(&b.tree, len(entries)),
		constraints: maps.Clone(b.constraints),
		entries:     slices.Clone(entries),
	}
}

// Lookup returns the entry for a request, which is read-only, or nil if no pattern
// matches. If patterns match the path but not the method, allow lists their methods as
// in the Allow field of a 405 response, such as "GET, HEAD, POST".
//
// The host may have a port and capital letters. path and rawPath are URL.Path and
// URL.RawPath of net/url: the unescaped path, and the escaped path if the first is
// ambiguous, as for "/a%2Fb", otherwise "". If rawPath is not "", path is ignored, so a
// path as it was sent can be looked up as "" and that path. If "//" and ".." are
// special to the caller, it has to clean the path. A path that does not begin with a
// slash matches nothing.
//
// Lookup stores the parameters in p, which may be nil; without a match, p is empty.
// Once p has been used, Lookup allocates only for a raw path with a '%', a host with
// capital letters, and the Allow of several patterns together.
func (t *Table[T]) Lookup(method, host, path, rawPath string, p *Params) (e *Entry[T], allow string) {
	i, allow := t.program.lookup(method, path, rawPath, p, host)
	if i >= 0 {
		e = &t.entries[i]
	}
	return e, allow
}

// Next looks up the same request as the last call of Lookup or Next with p, which found
// an entry, and returns the entry of the next pattern in the order of precedence. A
// caller with conditions of its own, for example on header fields, calls Next until one
// holds. The patterns that have been passed do not count for allow. Next takes as long
// as Lookup, plus one comparison for each pattern passed.
func (t *Table[T]) Next(method, host, path, rawPath string, p *Params) (e *Entry[T], allow string) {
	i, allow := t.program.next(method, path, rawPath, p, host)
	if i >= 0 {
		e = &t.entries[i]
	}
	return e, allow
}

// String draws the patterns as a tree: a line for each segment, in the order of a
// lookup, with the patterns that end there.
func (t *Table[T]) String() string {
	b := newBuilder(t.constraints)
	for i := range t.entries {
		b.add(t.entries[i].Pattern, i)
	}
	return b.tree.draw()
}
