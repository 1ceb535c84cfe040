package router_test

import "github.com/weirhq/weir/router"

// A match is the result of a lookup in a form to compare and to print.
type match[T any] struct {
	Value   T
	Pattern string
	Found   bool
	Allow   string
}

// lookup looks up a path in the form in which it was sent.
func lookup[T any](table *router.Table[T], method, host, path string, p *router.Params) match[T] {
	e, allow := table.Lookup(method, host, "", path, p)
	if e == nil {
		return match[T]{Allow: allow}
	}
	return match[T]{e.Value, e.Pattern, true, allow}
}
