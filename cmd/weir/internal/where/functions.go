package where

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A function describes a function that an expression can call.
type function struct {
	takes     []kind // its arguments
	optional  int    // how many of them, at the end, may be left out
	predicate bool   // whether the second argument is evaluated for each element of the first
	returns   kind
	call      func(*call) value
}

// A call is a call of a function for an event. The types of args are those that
// the function takes.
type call struct {
	env       *env
	e         *expr
	args      []value
	predicate eval // nil if there is none
}

// apply returns the value of the predicate for an element, or the element itself
// without a predicate.
func (c *call) apply(element value) value {
	if c.predicate == nil {
		return element
	}
	outer := c.env.item
	c.env.item = element
	v := c.predicate(c.env)
	c.env.item = outer
	return v
}

func (c *call) holds(element value) bool { return c.apply(element).isTrue() }

func (c *call) list() []value { return c.args[0].list() }

func (c *call) any() bool { return slices.ContainsFunc(c.list(), c.holds) }

// count returns the number of elements for which the predicate is true.
func (c *call) count() (n int) {
	for _, element := range c.list() {
		if c.holds(element) {
			n++
		}
	}
	return n
}

func (c *call) fail(format string, args ...any) value { return c.env.fail(c.e.at, format, args...) }

// functions are the functions by name.
var functions = map[string]function{
	"all":    onElements(0, kindTruth, func(c *call) value { return truthValue(c.count() == len(c.list())) }),
	"any":    onElements(0, kindTruth, func(c *call) value { return truthValue(c.any()) }),
	"none":   onElements(0, kindTruth, func(c *call) value { return truthValue(!c.any()) }),
	"one":    onElements(0, kindTruth, func(c *call) value { return truthValue(c.count() == 1) }),
	"count":  onElements(1, kindNumber, func(c *call) value { return intValue(int64(c.count())) }),
	"filter": onElements(0, kindList, filter),
	"map": onElements(0, kindList, func(c *call) value {
		return listOf(c.list(), func(element *value) value { return c.apply(*element) })
	}),
	"sum": onElements(1, kindNumber, sum),

	"lower":       onText(strings.ToLower),
	"upper":       onText(strings.ToUpper),
	"trim":        onText(strings.TrimSpace),
	"trimPrefix":  onTexts(kindText, func(s, prefix string) value { return textValue(strings.TrimPrefix(s, prefix)) }),
	"trimSuffix":  onTexts(kindText, func(s, suffix string) value { return textValue(strings.TrimSuffix(s, suffix)) }),
	"indexOf":     onTexts(kindNumber, func(s, of string) value { return intValue(int64(strings.Index(s, of))) }),
	"lastIndexOf": onTexts(kindNumber, func(s, of string) value { return intValue(int64(strings.LastIndex(s, of))) }),
	"split":       onTexts(kindList, func(s, by string) value { return listOf(strings.Split(s, by), ofText) }),
	"replace": {takes: []kind{kindText, kindText, kindText}, returns: kindText, call: func(c *call) value {
		return textValue(strings.ReplaceAll(c.args[0].s, c.args[1].s, c.args[2].s))
	}},
	"join":   {takes: []kind{kindList, kindText}, optional: 1, returns: kindText, call: joinList},
	"len":    onAny(kindNumber, length),
	"string": onAny(kindText, func(c *call) value { return textValue(c.args[0].string()) }),

	"int":   onAny(kindNumber, toInt),
	"float": onAny(kindNumber, toFloat),
	"abs":   onNumber(math.Abs),
	"ceil":  onNumber(math.Ceil),
	"floor": onNumber(math.Floor),
	"round": onNumber(math.Round),
	"min":   lesser("<"),
	"max":   lesser(">"),

	"now":      {returns: kindInstant, call: func(*call) value { return instantValue(time.Now()) }},
	"date":     read(kindInstant),
	"duration": read(kindDuration),
}

// takesPredicate reports whether the second argument of a function is a predicate.
func takesPredicate(function string) bool { return functions[function].predicate }

// onElements returns a function of a list and a predicate, which may be optional.
func onElements(optional int, returns kind, f func(*call) value) function {
	return function{[]kind{kindList, kindUnknown}, optional, true, returns, f}
}

func onAny(returns kind, f func(*call) value) function {
	return function{takes: []kind{kindUnknown}, returns: returns, call: f}
}

func onText(f func(string) string) function {
	call := func(c *call) value { return textValue(f(c.args[0].s)) }
	return function{takes: []kind{kindText}, returns: kindText, call: call}
}

func onTexts(returns kind, f func(a, b string) value) function {
	takes := []kind{kindText, kindText}
	return function{takes: takes, returns: returns, call: func(c *call) value { return f(c.args[0].s, c.args[1].s) }}
}

func onNumber(f func(float64) float64) function {
	return function{takes: []kind{kindNumber}, returns: kindNumber, call: func(c *call) value {
		x, _ := c.args[0].float()
		return floatValue(f(x))
	}}
}

// lesser returns a function that returns the first of two numbers if the
// comparison of the two is true, else the second.
func lesser(comparison string) function {
	takes, operator := []kind{kindNumber, kindNumber}, operators[comparison]
	return function{takes: takes, returns: kindUnknown, call: func(c *call) value {
		if operator.compare(c.args[0], c.args[1]) {
			return c.args[0]
		}
		return c.args[1]
	}}
}

// read returns a function that reads a text in the notation of a kind.
func read(k kind) function {
	return function{takes: []kind{kindText}, returns: k, call: func(c *call) value {
		v, err := notations[k].parse(c.args[0].s)
		if err != nil {
			return c.fail(`%s("%s"): the text is not %s`, c.e.text, c.args[0].s, k)
		}
		return v
	}}
}

// accepts reports whether an argument for which a function takes k may be of
// another kind.
func (k kind) accepts(argument kind) bool {
	switch k {
	case kindText:
		return argument.isText()
	case kindNumber:
		return argument.in(kindUnknown, kindNumber, kindDuration)
	}
	return k == kindUnknown || argument.in(k, kindUnknown)
}

func filter(c *call) value {
	var list []value
	for _, element := range c.list() {
		if c.holds(element) {
			list = append(list, element)
		}
	}
	return listValue(list)
}

func sum(c *call) value {
	total, plus := intValue(0), operators["+"]
	for _, element := range c.list() {
		v, ok := plus.calculate(total, c.apply(element))
		if !ok || v.is == kindMissing {
			return c.fail("sum takes a list of numbers")
		}
		total = v
	}
	return total
}

func length(c *call) value {
	switch v := c.args[0]; v.is {
	case kindText:
		return intValue(int64(utf8.RuneCountInString(v.s)))
	case kindList:
		return intValue(int64(len(v.list())))
	case kindObject:
		return intValue(int64(len(v.object())))
	default:
		return c.fail("len takes a text, a list or an object, not %s", v.is)
	}
}

func joinList(c *call) value {
	var texts []string
	for _, element := range c.list() {
		if element.is != kindText {
			return c.fail("join takes a list of texts")
		}
		texts = append(texts, element.s)
	}
	if len(c.args) == 1 {
		return textValue(strings.Join(texts, ""))
	}
	return textValue(strings.Join(texts, c.args[1].s))
}

func toInt(c *call) value {
	v := c.number(func(s string) (value, error) {
		n, err := strconv.Atoi(s)
		return intValue(int64(n)), err
	})
	if f, _ := v.float(); v.is == kindFloat {
		return intValue(int64(f))
	}
	return v
}

func toFloat(c *call) value {
	v := c.number(func(s string) (value, error) {
		f, err := strconv.ParseFloat(s, 64)
		return floatValue(f), err
	})
	if f, ok := v.float(); ok {
		return floatValue(f)
	}
	return v
}

// number returns the argument, which parse converts if it is a text.
func (c *call) number(parse func(string) (value, error)) value {
	v := c.args[0]
	if v.is != kindText {
		if _, ok := v.float(); !ok {
			return c.fail("%s takes a number or a text, not %s", c.e.text, v.is)
		}
		return v
	}
	n, err := parse(v.s)
	if err != nil {
		return c.fail(`%s("%s"): the text is not a number`, c.e.text, v.s)
	}
	return n
}
