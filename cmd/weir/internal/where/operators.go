package where

import (
	"cmp"
	"math"
	"reflect"
	"strings"
	"time"
)

// An operator is a binary operator. Operators of a higher precedence are applied
// first. Those of the same precedence are grouped from the left, except powers.
type operator struct {
	precedence int
	orders     orders                     // the orders of two values for which a comparison is true
	texts      func(a, b string) bool     // compares two texts; if it is nil, orders does
	ints       func(a, b int64) int64     // calculates with integers; if it is nil, floats does
	floats     func(a, b float64) float64 // calculates with numbers; % has none
}

// orders is a set of results of cmp.Compare: -1, 0 and 1 have the indices less,
// equal and greater.
type orders [3]bool

const (
	less = iota
	equal
	greater
)

func (o orders) have(order int) bool { return o[order+1] }

var operators = map[string]*operator{
	"|":  {},
	"or": {precedence: 10}, "||": {precedence: 10},
	"and": {precedence: 15}, "&&": {precedence: 15},
	"==":         {precedence: 20, orders: orders{equal: true}, texts: isEqual},
	"!=":         {precedence: 20, orders: orders{less: true, greater: true}},
	"<":          {precedence: 20, orders: orders{less: true}},
	"<=":         {precedence: 20, orders: orders{less: true, equal: true}},
	">":          {precedence: 20, orders: orders{greater: true}},
	">=":         {precedence: 20, orders: orders{equal: true, greater: true}},
	"contains":   {precedence: 20, texts: strings.Contains},
	"startsWith": {precedence: 20, texts: strings.HasPrefix},
	"endsWith":   {precedence: 20, texts: strings.HasSuffix},
	"matches":    {precedence: 20},
	"in":         {precedence: 20},
	"..":         {precedence: 25},
	"+":          {precedence: 30, ints: add[int64], floats: add[float64]},
	"-":          {precedence: 30, ints: subtract[int64], floats: subtract[float64]},
	"*":          {precedence: 60, ints: multiply[int64], floats: multiply[float64]},
	"/":          {precedence: 60, floats: func(a, b float64) float64 { return a / b }},
	"%":          {precedence: 60, ints: func(a, b int64) int64 { return a % b }},
	"**":         {precedence: 100, floats: math.Pow}, "^": {precedence: 100, floats: math.Pow},
	"??": {precedence: 500},
}

var unaries = map[string]int{"not": 50, "!": 50, "-": 90, "+": 90} // precedences

func add[N int64 | float64](a, b N) N      { return a + b }
func subtract[N int64 | float64](a, b N) N { return a - b }
func multiply[N int64 | float64](a, b N) N { return a * b }

func isEqual(a, b string) bool { return a == b }

// isEquality reports whether the operator is == or !=.
func (o *operator) isEquality() bool { return o.orders[less] == o.orders[greater] && o.isComparison() }

func (o *operator) isComparison() bool { return o.orders != orders{} }

// compare reports whether a comparison is true. With a missing value it is false.
func (o *operator) compare(a, b value) bool {
	switch {
	case a.is == kindMissing || b.is == kindMissing:
		return false
	case a.is == kindText && b.is == kindText:
		if o.texts != nil {
			return o.texts(a.s, b.s)
		}
		return o.orders.have(strings.Compare(a.s, b.s))
	case a.is == kindNumber && b.is == kindNumber:
		return o.orders.have(cmp.Compare(a.n, b.n))
	case a.is == kindInstant || b.is == kindInstant:
		a, b = a.instant(), b.instant()
		order := cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.nanos, b.nanos))
		return a.is != kindMissing && b.is != kindMissing && o.orders.have(order)
	}
	x, isNumber := a.float()
	if y, ok := b.float(); ok && isNumber {
		return o.orders.have(cmp.Compare(x, y))
	}
	if !o.isEquality() {
		return false
	}
	return reflect.DeepEqual(a.any(), b.any()) == o.orders[equal]
}

// calculate returns the result of an arithmetic operator, and false if it is not
// defined for the values. With a missing value, the result is missing.
func (o *operator) calculate(a, b value) (result value, ok bool) {
	switch {
	case a.is == kindMissing || b.is == kindMissing:
		return value{}, true
	case a.is == kindText && b.is == kindText:
		return textValue(a.s + b.s), o == operators["+"]
	case a.is == kindNumber && b.is == kindNumber && o.ints != nil:
		if o.floats == nil && b.n == 0 { // % 0
			return value{}, false
		}
		return intValue(o.ints(a.n, b.n)), true
	}
	x, isNumber := a.float()
	y, ok := b.float()
	if !isNumber || !ok || o.floats == nil {
		return value{}, false
	}
	return floatValue(o.floats(x, y)), true
}

// shift adds a duration to an instant, subtracts one from it, or returns the
// duration from one instant to another. The result is missing where a side is
// missing or of another type.
func shift(operator string, a, b value) value {
	if operator == "+" && a.instant().is == kindMissing {
		a, b = b, a
	}
	from, to := a.instant(), b.instant()
	by, isDuration := b.float()
	switch {
	case from.is == kindMissing:
		return value{}
	case operator == "-" && to.is == kindInstant:
		return intValue(int64(from.time().Sub(to.time())))
	case operator == "-" && isDuration:
		return instantValue(from.time().Add(-time.Duration(by)))
	case operator == "+" && isDuration:
		return instantValue(from.time().Add(time.Duration(by)))
	}
	return value{}
}

// resultKind returns the kind of the result of an arithmetic operator, and false
// if it is not defined for the kinds.
func resultKind(operator string, a, b kind) (kind, bool) {
	isSum := operator == "+" || operator == "-"
	switch {
	case a == kindInstant && b == kindInstant && operator == "-":
		return kindDuration, true
	case a == kindInstant && b == kindDuration && isSum, a == kindDuration && b == kindInstant && operator == "+":
		return kindInstant, true
	case a == kindUnknown && isCountable(b), isCountable(a) && b == kindUnknown:
		return kindUnknown, true
	case a == kindNumber && b == kindNumber, a == kindDuration && b == kindDuration && operator == "/":
		return kindNumber, true
	case a == kindDuration && b == kindDuration && (isSum || operator == "%"),
		a == kindDuration && b == kindNumber && !isSum, a == kindNumber && b == kindDuration && operator == "*":
		return kindDuration, true
	}
	isJoined := operator == "+" && a.isText() && b.isText() && a != kindInstant && b != kindInstant
	return kindText, isJoined
}

// isCountable reports whether arithmetic with a value of an unknown kind is
// permitted.
func isCountable(k kind) bool { return k.in(kindUnknown, kindNumber, kindDuration, kindInstant) }

// comparable reports whether values of the kinds can be equal.
func comparable(a, b kind) bool {
	return a == b || a == kindUnknown || b == kindUnknown ||
		a == kindText && b.isText() || b == kindText && a.isText()
}
