package where

import (
	"regexp"
	"slices"

	"github.com/weirhq/weir/internal/nearest"
)

// At run time, a value that is not true counts as false, and a value that is not a
// text contains nothing.
var (
	truths = operands(kindTruth, "is neither true nor false")
	texts  = operands(kindText, "is not a text")
)

func operands(k kind, mistake string) func(*node) kind {
	return func(n *node) kind {
		for _, arg := range n.args {
			if !k.accepts(arg.kind) {
				arg.fail("%s %s", arg.kind, mistake)
			}
		}
		return kindTruth
	}
}

func pattern(n *node) kind {
	if b := n.args[1]; b.literal != nil {
		if _, err := regexp.Compile(b.literal.s); err != nil {
			n.fail("%v", err)
		}
	}
	return texts(n)
}

func conditional(n *node) kind {
	truths(&node{args: n.args[:1]})
	if n.args[1].kind != n.args[2].kind {
		return kindUnknown
	}
	return n.args[1].kind
}

func first(n *node) kind { return n.args[0].kind }

func aList(*node) kind { return kindList }

func number(n *node) kind {
	if !kindNumber.accepts(n.args[0].kind) {
		n.fail("%s %s cannot be calculated", n.name, n.args[0].kind)
	}
	return n.args[0].kind
}

// members checks a value with an index, parts one with bounds.
func members(n *node) kind {
	if k := n.args[0].kind; k != kindList && !kindObject.accepts(k) {
		n.fail("%s has no members", k)
	}
	return kindUnknown
}

func parts(n *node) kind {
	if k := n.args[0].kind; k != kindList && !k.isText() {
		n.fail("%s has no parts", k)
	}
	return n.args[0].kind
}

func arithmetic(n *node) kind {
	a, b := n.args[0].kind, n.args[1].kind
	isSum := n.name == "+" || n.name == "-"
	switch {
	case a == kindInstant && b == kindInstant && n.name == "-":
		return kindDuration
	case a == kindInstant && b == kindDuration && isSum, a == kindDuration && b == kindInstant && n.name == "+":
		return kindInstant
	case a == kindUnknown && (kindNumber.accepts(b) || b == kindInstant),
		b == kindUnknown && (kindNumber.accepts(a) || a == kindInstant):
		return kindUnknown
	case a == kindNumber && b == kindNumber, a == kindDuration && b == kindDuration && n.name == "/":
		return kindNumber
	case a == kindDuration && b == kindDuration && (isSum || n.name == "%"),
		a == kindDuration && b == kindNumber && !isSum, a == kindNumber && b == kindDuration && n.name == "*":
		return kindDuration
	case n.name != "+" || !a.isText() || !b.isText() || a == kindInstant || b == kindInstant:
		n.fail("%s %s %s cannot be calculated", a, n.name, b)
	}
	return kindText
}

// equality checks the sides of == and !=, order those of an operator such as <.
func equality(n *node) kind {
	if !n.args[0].isNil() && !n.args[1].isNil() {
		sides(n, false)
	}
	return kindTruth
}

func order(n *node) kind {
	for _, side := range n.args {
		if side.isNil() || slices.Contains([]kind{kindTruth, kindObject, kindList}, side.kind) {
			n.fail("%s has no order", side.source)
		}
	}
	sides(n, true)
	return kindTruth
}

// membership checks the sides of the operator in.
func membership(n *node) kind {
	a, b := n.args[0], n.args[1]
	switch {
	case b.name == "[":
		for i, element := range b.args {
			if a.kind != kindInstant { // the elements remain texts then
				b.args[i] = asKind(element, a.kind, false)
			}
			comparable(element, "", a.kind, b.args[i].kind)
		}
	case b.kind != kindList && !kindObject.accepts(b.kind):
		n.fail("%s is neither a list nor an object", b.kind)
	}
	return kindTruth
}

// sides converts the sides of a comparison to kinds that can be equal.
func sides(n *node, isRank bool) {
	hint := ""
	if n.args[0].name == "severity" || n.args[1].name == "severity" {
		hint = `severity is 0 fatal to 4 debug; words are compared with level, as in --where 'level >= "warn"'`
	}
	n.args[0], n.args[1] = asKind(n.args[0], n.args[1].kind, isRank), asKind(n.args[1], n.args[0].kind, isRank)
	comparable(n, hint, n.args[0].kind, n.args[1].kind)
}

// comparable checks that values of two kinds can be equal.
func comparable(n *node, hint string, a, b kind) {
	if a != b && a != kindUnknown && b != kindUnknown && (a != kindText || !b.isText()) && (b != kindText || !a.isText()) {
		n.env.fail(n.at, hint, "%s is compared with %s", a, b)
	}
}

// asKind converts a side of a comparison for a comparison with another kind: an
// instant to a point in time, a level to its rank if the order matters, and a
// literal text to an instant, duration or level.
func asKind(n *node, other kind, isRank bool) *node {
	notation, ok := notations[other]
	switch {
	case ok && n.literal != nil && n.kind == kindText:
		v, err := notation.parse(n.literal.s)
		if err != nil {
			near := ""
			if other == kindLevel {
				near = nearest.Guess(n.literal.s, levelNames[1:])
			}
			n.env.fail(n.at, notation.hint, "%q is not %s%s", n.literal.s, other, didYouMean(near))
		}
		if isRank && other == kindLevel {
			v = v.rank()
		}
		return n.env.literal(n.at, v, other)
	case n.kind == kindNumber && other == kindDuration:
		if n.literal == nil || *n.literal != intValue(0) {
			n.env.fail(n.at, durationHint, "a number is compared with a duration")
		}
		return n.env.literal(n.at, intValue(0), kindDuration)
	case n.kind == kindInstant:
		return n.converted(value.instant)
	case isRank && (n.kind == kindLevel || other == kindLevel):
		return n.converted(value.rank)
	}
	return n
}
