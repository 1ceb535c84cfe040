package where

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A function has up to three arguments, which an expression gives it.
type function struct {
	takes    []kind
	optional int // how many arguments, at the end, may be left out
	returns  kind
	do       func(*node) value
}

// The arguments that functions take.
var (
	anything   = []kind{kindUnknown}
	aNumber    = []kind{kindNumber}
	twoNumbers = []kind{kindNumber, kindNumber}
	aText      = []kind{kindText}
	elements   = []kind{kindList, kindUnknown} // the second is a predicate, evaluated for each element
)

var functions = map[string]function{
	"all":    {elements, 0, kindTruth, func(n *node) value { return truthValue(len(n.filter()) == len(n.list())) }},
	"any":    {elements, 0, kindTruth, func(n *node) value { return truthValue(n.holdsAny()) }},
	"none":   {elements, 0, kindTruth, func(n *node) value { return truthValue(!n.holdsAny()) }},
	"one":    {elements, 0, kindTruth, func(n *node) value { return truthValue(len(n.filter()) == 1) }},
	"count":  {elements, 1, kindNumber, func(n *node) value { return intValue(len(n.filter())) }},
	"filter": {elements, 0, kindList, func(n *node) value { return listValue(n.filter()) }},
	"map":    {elements, 0, kindList, func(n *node) value { return listOf(n.list(), n.predicate) }},
	"sum":    {elements, 1, kindNumber, total},

	"lower":       {aText, 0, kindText, func(n *node) value { return textValue(strings.ToLower(n.text(0))) }},
	"upper":       {aText, 0, kindText, func(n *node) value { return textValue(strings.ToUpper(n.text(0))) }},
	"trim":        {aText, 0, kindText, func(n *node) value { return textValue(strings.TrimSpace(n.text(0))) }},
	"trimPrefix":  onTexts(kindText, textValue, strings.TrimPrefix),
	"trimSuffix":  onTexts(kindText, textValue, strings.TrimSuffix),
	"indexOf":     onTexts(kindNumber, intValue, strings.Index),
	"lastIndexOf": onTexts(kindNumber, intValue, strings.LastIndex),
	"split":       onTexts(kindList, textList, strings.Split),
	"replace":     {[]kind{kindText, kindText, kindText}, 0, kindText, replace},
	"join":        {[]kind{kindList, kindText}, 1, kindText, join},
	"len":         {anything, 0, kindNumber, length},
	"string":      {anything, 0, kindText, func(n *node) value { return textValue(n.arg(0).String()) }},

	"int":   {anything, 0, kindNumber, toNumber(strconv.Atoi, intValue)},
	"float": {anything, 0, kindNumber, toNumber(parseFloat, floatValue)},
	"abs":   {aNumber, 0, kindNumber, func(n *node) value { return floatValue(math.Abs(n.number())) }},
	"ceil":  {aNumber, 0, kindNumber, func(n *node) value { return floatValue(math.Ceil(n.number())) }},
	"floor": {aNumber, 0, kindNumber, func(n *node) value { return floatValue(math.Floor(n.number())) }},
	"round": {aNumber, 0, kindNumber, func(n *node) value { return floatValue(math.Round(n.number())) }},
	"min":   {twoNumbers, 0, kindUnknown, func(n *node) value { return n.extreme(-1) }},
	"max":   {twoNumbers, 0, kindUnknown, func(n *node) value { return n.extreme(1) }},

	"now":      {nil, 0, kindInstant, func(*node) value { return instantValue(time.Now()) }},
	"date":     {aText, 0, kindInstant, func(n *node) value { return n.read(kindInstant) }},
	"duration": {aText, 0, kindDuration, func(n *node) value { return n.read(kindDuration) }},
}

func onTexts[R any](returns kind, of func(R) value, f func(a, b string) R) function {
	return function{[]kind{kindText, kindText}, 0, returns, func(n *node) value { return of(f(n.text(0), n.text(1))) }}
}

// check checks the arguments of a call.
func (f function) check(n *node) kind {
	if least := len(f.takes) - f.optional; len(n.args) < least || len(n.args) > len(f.takes) {
		n.fail("%s takes %s, not %d", n.name, counted(least, len(f.takes)), len(n.args))
		return f.returns
	}
	for i, arg := range n.args {
		if !f.takes[i].accepts(arg.kind) {
			n.fail("%s takes %s, not %s", n.name, f.takes[i], arg.kind)
		}
	}
	return f.returns
}

func counted(least, most int) string {
	switch {
	case least != most:
		return fmt.Sprintf("%d or %d arguments", least, most)
	case most == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", most)
}

func total(n *node) value {
	total := intValue(0)
	for _, element := range n.list() {
		v, ok := sum.of(total, n.predicate(element))
		if !ok || v.is == kindMissing {
			return n.fail("sum takes a list of numbers")
		}
		total = v
	}
	return total
}

func replace(n *node) value {
	return textValue(strings.ReplaceAll(n.text(0), n.text(1), n.text(2)))
}

func join(n *node) value {
	texts, separator := make([]string, len(n.list())), ""
	for i, element := range n.list() {
		if element.is != kindText {
			return n.fail("join takes a list of texts")
		}
		texts[i] = element.s
	}
	if len(n.args) > 1 {
		separator = n.text(1)
	}
	return textValue(strings.Join(texts, separator))
}

func length(n *node) value {
	switch v := n.arg(0); v.is {
	case kindText:
		return intValue(utf8.RuneCountInString(v.s))
	case kindList:
		return intValue(len(v.list()))
	case kindObject:
		return intValue(len(v.members()))
	default:
		return n.fail("len takes a text, a list or an object, not %s", v.is)
	}
}

func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

func toNumber[N int | float64](parse func(string) (N, error), of func(N) value) func(*node) value {
	return func(n *node) value {
		v := n.arg(0)
		f, isNumber := v.float()
		switch {
		case v.is == kindNumber:
			return of(N(v.n))
		case isNumber:
			return of(N(f))
		case v.is != kindText:
			return n.fail("%s takes a number or a text, not %s", n.name, v.is)
		}
		x, err := parse(v.s)
		if err != nil {
			return n.fail(`%s("%s"): the text is not a number`, n.name, v.s)
		}
		return of(x)
	}
}

// extreme returns the first of two numbers if it has that order to the second,
// else the second.
func (n *node) extreme(order int) value {
	a, b := n.take(0, kindNumber), n.take(1, kindNumber)
	if o, _ := compare(a, b); o == order {
		return a
	}
	return b
}

// read reads a text in the notation of a kind.
func (n *node) read(k kind) value {
	v, err := notations[k].parse(n.text(0))
	if err != nil {
		return n.fail(`%s("%s"): the text is not %s`, n.name, n.text(0), k)
	}
	return v
}
