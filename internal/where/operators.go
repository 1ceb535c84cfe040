package where

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An operator has one to three operands. Binary operators of a higher precedence
// are applied first. Those of the same precedence are grouped from the left, except
// powers.
type operator struct {
	precedence int
	check      func(*node) kind // checks the kinds of the operands, and returns that of the result
	do         func(*node) value
}

var unaries = map[string]operator{
	"not": {50, truths, not},
	"!":   {50, truths, not},
	"-":   {90, number, multiply(-1)},
	"+":   {90, number, multiply(1)},
}

var operators = map[string]operator{
	"|":          {},
	"?":          {0, conditional, choose},
	"or":         {10, truths, or},
	"||":         {10, truths, or},
	"and":        {15, truths, and},
	"&&":         {15, truths, and},
	"==":         {20, equality, equals(true)},
	"!=":         {20, equality, equals(false)},
	"<":          {20, order, ordered(func(order int) bool { return order < 0 })},
	"<=":         {20, order, ordered(func(order int) bool { return order <= 0 })},
	">":          {20, order, ordered(func(order int) bool { return order > 0 })},
	">=":         {20, order, ordered(func(order int) bool { return order >= 0 })},
	"contains":   {20, texts, search(strings.Contains)},
	"startsWith": {20, texts, search(strings.HasPrefix)},
	"endsWith":   {20, texts, search(strings.HasSuffix)},
	"matches":    {20, pattern, matches},
	"in":         {20, membership, in},
	"..":         {25, aList, span},
	"+":          {30, arithmetic, calculated(sum)},
	"-":          {30, arithmetic, calculated(numbers{sub[int64], sub[float64]})},
	"*":          {60, arithmetic, calculated(product)},
	"/":          {60, arithmetic, calculated(numbers{nil, func(a, b float64) float64 { return a / b }})},
	"%":          {60, arithmetic, calculated(numbers{func(a, b int64) int64 { return a % b }, nil})},
	"**":         {100, arithmetic, calculated(numbers{nil, math.Pow})},
	"??":         {500, first, coalesce},
}

// negatable are the operators that may have a not before them, chained those of
// which the right side may be the left side of another one.
var (
	negatable = []string{"in", "contains", "startsWith", "endsWith", "matches"}
	chained   = []string{"<", "<=", ">", ">="}
)

// The operators that are written with brackets.
var (
	listing  = operator{check: aList, do: func(n *node) value { return listOf(n.args, (*node).eval) }}
	indexing = operator{check: members, do: func(n *node) value { return n.arg(0).index(n.arg(1)) }}
	slicing  = operator{check: parts, do: part}
)

func not(n *node) value { return truthValue(!n.isTrue(0)) }

func and(n *node) value { return truthValue(n.isTrue(0) && n.isTrue(1)) }

func or(n *node) value { return truthValue(n.isTrue(0) || n.isTrue(1)) }

func choose(n *node) value {
	if n.isTrue(0) {
		return n.arg(1)
	}
	return n.arg(2)
}

func coalesce(n *node) value {
	if v := n.arg(0); v.is != kindMissing {
		return v
	}
	return n.arg(1)
}

func equals(want bool) func(*node) value {
	return func(n *node) value {
		a, b := n.arg(0), n.arg(1)
		if n.args[0].isNil() || n.args[1].isNil() {
			return truthValue(a.is == b.is == want)
		}
		isEqual, ok := equal(a, b)
		return truthValue(ok && isEqual == want)
	}
}

func ordered(isTrue func(order int) bool) func(*node) value {
	return func(n *node) value {
		order, ok := compare(n.arg(0), n.arg(1))
		return truthValue(ok && isTrue(order))
	}
}

func search(f func(s, part string) bool) func(*node) value {
	return func(n *node) value {
		s, part := n.arg(0), n.arg(1)
		return truthValue(s.is == kindText && part.is == kindText && f(s.s, part.s))
	}
}

func matches(n *node) value {
	text, pattern := n.arg(0), n.arg(1)
	if text.is == kindMissing || pattern.is == kindMissing {
		return truthValue(false)
	}
	var err error
	if n.re == nil || n.re.String() != pattern.s {
		n.re, err = regexp.Compile(pattern.s)
	}
	if err != nil || pattern.is != kindText {
		return n.fail("%s matches %s: not a text and a pattern", text.is, pattern.is)
	}
	return truthValue(text.is == kindText && n.re.MatchString(text.s))
}

func in(n *node) value {
	v := n.arg(0)
	isEqual := func(element value) bool {
		isEqual, ok := equal(v, element)
		return ok && isEqual
	}
	switch b := n.args[1]; b.name {
	case "..":
		f, isNumber := v.float()
		least, ok := compare(v, b.args[0].eval())
		most, alsoOK := compare(v, b.args[1].eval())
		return truthValue(isNumber && f == math.Trunc(f) && ok && least >= 0 && alsoOK && most <= 0)
	case "[":
		return truthValue(slices.ContainsFunc(b.args, func(element *node) bool { return isEqual(element.eval()) }))
	}
	switch of := n.arg(1); of.is {
	case kindMissing:
		return truthValue(false)
	case kindObject:
		return truthValue(v.is == kindText && of.member(v.s).is != kindMissing)
	case kindList:
		return truthValue(slices.ContainsFunc(of.list(), isEqual))
	default:
		return n.fail("%s is neither a list nor an object", of.is)
	}
}

const maxSpan = 1_000_000 // elements of a list that .. makes

// span returns the list of the integers from one to another.
func span(n *node) value {
	from, to := n.arg(0), n.arg(1)
	if from.is != kindNumber || to.is != kindNumber {
		return n.fail("%s .. %s is not a list", from, to)
	}
	if to.n < from.n {
		return listValue([]value{})
	}
	steps := uint64(to.n) - uint64(from.n) // an int64 may be too small for it
	if steps >= maxSpan {
		return n.fail("%s .. %s is not a list", from, to)
	}
	list := make([]value, 0, steps+1)
	for i := range int64(steps) + 1 {
		list = append(list, intValue(from.n+i))
	}
	return listValue(list)
}

// part returns a part of a text or a list. Negative bounds count from the end.
func part(n *node) value {
	v, from, to := n.arg(0), n.arg(1), n.arg(2)
	if from.is != kindNumber || to.is != kindNumber {
		return n.fail("a part from %s to %s", from.is, to.is)
	}
	size := int64(len(v.s) + len(v.list()))
	for _, bound := range []*int64{&from.n, &to.n} {
		if *bound < 0 {
			*bound += size
		}
		*bound = min(max(*bound, 0), size)
	}
	switch i, j := min(from.n, to.n), to.n; v.is {
	case kindText:
		return textValue(v.s[i:j])
	case kindList:
		return listValue(v.list()[i:j])
	}
	return n.fail("%s has no parts", v.is)
}

// numbers calculate with two numbers.
type numbers struct {
	ints   func(a, b int64) int64     // if it is nil, floats does
	floats func(a, b float64) float64 // nil for %
}

func add[N int64 | float64](a, b N) N { return a + b }
func sub[N int64 | float64](a, b N) N { return a - b }
func mul[N int64 | float64](a, b N) N { return a * b }

var sum, product = numbers{add[int64], add[float64]}, numbers{mul[int64], mul[float64]}

// of returns the result for two values, and false if it is not defined. With a
// missing value, the result is missing.
func (o numbers) of(a, b value) (result value, ok bool) {
	x, isNumber := a.float()
	y, ok := b.float()
	switch {
	case a.is == kindMissing || b.is == kindMissing:
		return value{}, true
	case a.is == kindNumber && b.is == kindNumber && o.ints != nil && (o.floats != nil || b.n != 0): // not % 0
		return intValue(o.ints(a.n, b.n)), true
	case !isNumber || !ok || o.floats == nil:
		return value{}, false
	}
	return floatValue(o.floats(x, y)), true
}

func multiply(factor int) func(*node) value {
	return func(n *node) value {
		v := n.arg(0)
		result, ok := product.of(intValue(factor), v)
		if !ok || v.is == kindMissing {
			return n.fail("%s %s cannot be calculated", n.name, v.is)
		}
		return result
	}
}

func calculated(o numbers) func(*node) value {
	return func(n *node) value {
		a, b := n.arg(0), n.arg(1)
		switch {
		case n.args[0].kind == kindInstant || n.args[1].kind == kindInstant:
			return shift(n.name, a, b)
		case a.is == kindText && b.is == kindText && n.name == "+":
			return textValue(a.s + b.s)
		}
		result, ok := o.of(a, b)
		if !ok {
			return n.fail("%s %s %s cannot be calculated", a.is, n.name, b.is)
		}
		return result
	}
}

// shift adds a duration to an instant, subtracts one from it, or returns the
// duration from one instant to another. The result is missing where a side is
// missing or of another type, and for any other operator.
func shift(operator string, a, b value) value {
	if operator == "+" && a.instant().is == kindMissing {
		a, b = b, a
	}
	from, to := a.instant(), b.instant()
	by, isDuration := b.float()
	switch {
	case from.is == kindMissing:
	case operator == "-" && to.is == kindInstant:
		return intValue(from.time().Sub(to.time()))
	case operator == "-" && isDuration:
		return instantValue(from.time().Add(-time.Duration(by)))
	case operator == "+" && isDuration:
		return instantValue(from.time().Add(time.Duration(by)))
	}
	return value{}
}
