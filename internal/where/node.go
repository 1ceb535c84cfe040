package where

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/weirhq/weir/log/record"
)

// An env is the condition, the event that is evaluated, and the first error of the
// two.
type env struct {
	source string
	record *record.Record
	err    *Error
}

func (e *env) fail(at int, hint, format string, args ...any) {
	if e.err == nil {
		e.err = &Error{e.source, at, fmt.Sprintf(format, args...), hint}
	}
}

// A node is an expression: a literal, a variable, a field of the event, or an
// operator or function with its operands.
type node struct {
	do     func(*node) value // evaluates the node
	kind   kind              // as far as it is known
	name   string            // of an operator, a function or a field
	args   []*node
	at     int    // offset that errors point to
	source string // as it is written
	env    *env

	literal *value         // nil if it is another expression
	field   field          // zero if it is another expression
	element *value         // that a predicate is evaluated for
	re      *regexp.Regexp // the last pattern of the operator matches
}

func (n *node) eval() value { return n.do(n) }

func (e *env) literal(at int, v value, k kind) *node {
	return &node{env: e, at: at, kind: k, literal: &v, do: func(n *node) value { return *n.literal }}
}

func (e *env) variable(at int, v *value, k kind) *node {
	return &node{env: e, at: at, kind: k, do: func(*node) value { return *v }}
}

// converted returns the expression with another value.
func (n *node) converted(f func(value) value) *node {
	return &node{kind: n.kind, do: func(*node) value { return f(n.eval()) }}
}

func (n *node) isNil() bool { return n.literal != nil && n.literal.is == kindMissing }

func (n *node) fail(format string, args ...any) value {
	n.env.fail(n.at, "", format, args...)
	return value{}
}

func (n *node) arg(i int) value { return n.args[i].eval() }

func (n *node) isTrue(i int) bool { return n.arg(i).isTrue() }

// take returns an argument of a function, which fails if it is of another kind.
func (n *node) take(i int, k kind) value {
	v := n.arg(i)
	if v.is != k && (v.is != kindFloat || k != kindNumber) {
		n.fail("%s takes %s, not %s", n.name, k, v.is)
	}
	return v
}

func (n *node) text(i int) string { return n.take(i, kindText).s }

func (n *node) list() []value { return n.take(0, kindList).list() }

func (n *node) number() float64 {
	f, _ := n.take(0, kindNumber).float()
	return f
}

// predicate returns the value of the second argument for an element of the first, or
// the element itself if there is no second one.
func (n *node) predicate(element value) value {
	if len(n.args) < 2 {
		return element
	}
	*n.args[1].element = element
	return n.arg(1)
}

func (n *node) holds(element value) bool { return n.predicate(element).isTrue() }

func (n *node) holdsAny() bool { return slices.ContainsFunc(n.list(), n.holds) }

// filter returns the elements for which the predicate is true.
func (n *node) filter() []value {
	list := []value{}
	for _, element := range n.list() {
		if n.holds(element) {
			list = append(list, element)
		}
	}
	return list
}
