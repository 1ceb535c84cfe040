package where

import (
	"maps"
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
	call      func(c *call) value
}

// A call is a call of a function for an event.
type call struct {
	env       *env
	e         *expr
	args      []value
	predicate eval // nil if there is none
}

// text and list return an argument. call has checked its type.
func (c *call) text(i int) string { return c.args[i].s }
func (c *call) list() []value     { return c.args[0].list() }

// holds reports whether the predicate is true for an element. Without a
// predicate, the element has to be true.
func (c *call) holds(element value) bool { return c.apply(element).isTrue() }

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

// count returns the number of elements for which the predicate is true.
func (c *call) count() (n int) {
	for _, element := range c.list() {
		if c.holds(element) {
			n++
		}
	}
	return n
}

func (c *call) fail(format string, args ...any) value {
	return c.env.fail(c.e.at, format, args...)
}

// functions are the functions by name.
var functions = map[string]function{
	"all":    onElements(0, kindTruth, func(c *call) value { return truthValue(c.count() == len(c.list())) }),
	"any":    onElements(0, kindTruth, func(c *call) value { return truthValue(slices.ContainsFunc(c.list(), c.holds)) }),
	"none":   onElements(0, kindTruth, func(c *call) value { return truthValue(!slices.ContainsFunc(c.list(), c.holds)) }),
	"one":    onElements(0, kindTruth, func(c *call) value { return truthValue(c.count() == 1) }),
	"count":  onElements(1, kindNumber, func(c *call) value { return intValue(int64(c.count())) }),
	"filter": onElements(0, kindList, filter),
	"map":    onElements(0, kindList, mapList),
	"sum":    onElements(1, kindNumber, sum),

	"lower":       onText(strings.ToLower),
	"upper":       onText(strings.ToUpper),
	"trim":        onText(strings.TrimSpace),
	"trimPrefix":  onTexts(kindText, func(s, prefix string) value { return textValue(strings.TrimPrefix(s, prefix)) }),
	"trimSuffix":  onTexts(kindText, func(s, suffix string) value { return textValue(strings.TrimSuffix(s, suffix)) }),
	"indexOf":     onTexts(kindNumber, func(s, part string) value { return intValue(int64(strings.Index(s, part))) }),
	"lastIndexOf": onTexts(kindNumber, func(s, part string) value { return intValue(int64(strings.LastIndex(s, part))) }),
	"split":       onTexts(kindList, split),
	"replace": {takes: []kind{kindText, kindText, kindText}, returns: kindText, call: func(c *call) value {
		return textValue(strings.ReplaceAll(c.text(0), c.text(1), c.text(2)))
	}},
	"join":   {takes: []kind{kindList, kindText}, optional: 1, returns: kindText, call: joinList},
	"len":    {takes: []kind{kindUnknown}, returns: kindNumber, call: length},
	"string": {takes: []kind{kindUnknown}, returns: kindText, call: func(c *call) value { return textValue(c.args[0].string()) }},

	"int":   {takes: []kind{kindUnknown}, returns: kindNumber, call: toInt},
	"float": {takes: []kind{kindUnknown}, returns: kindNumber, call: toFloat},
	"abs":   onNumber(math.Abs),
	"ceil":  onNumber(math.Ceil),
	"floor": onNumber(math.Floor),
	"round": onNumber(math.Round),
	"min":   lesser("<"),
	"max":   lesser(">"),

	"now":      {returns: kindInstant, call: func(*call) value { return instantValue(time.Now()) }},
	"date":     {takes: []kind{kindText}, returns: kindInstant, call: date},
	"duration": {takes: []kind{kindText}, returns: kindDuration, call: duration},
}

// onElements returns a function of a list and a predicate, which may be optional.
func onElements(optional int, returns kind, f func(*call) value) function {
	return function{
		takes: []kind{kindList, kindUnknown}, optional: optional, predicate: true, returns: returns, call: f,
	}
}

func onText(f func(string) string) function {
	return function{takes: []kind{kindText}, returns: kindText, call: func(c *call) value { return textValue(f(c.text(0))) }}
}

func onTexts(returns kind, f func(a, b string) value) function {
	return function{
		takes: []kind{kindText, kindText}, returns: returns,
		call: func(c *call) value { return f(c.text(0), c.text(1)) },
	}
}

func onNumber(f func(float64) float64) function {
	return function{takes: []kind{kindNumber}, returns: kindNumber, call: func(c *call) value {
		x, _ := c.args[0].float()
		return floatValue(f(x))
	}}
}

// lesser returns a function that returns the first of two numbers if the
// comparison of the two is true, else the second.
func lesser(operator string) function {
	return function{takes: []kind{kindNumber, kindNumber}, call: func(c *call) value {
		if compare(operator, c.args[0], c.args[1]) {
			return c.args[0]
		}
		return c.args[1]
	}}
}

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }

// call compiles a call, and checks its arguments as far as they are known.
func (c *compiler) call(e *expr) (eval, kind) {
	f, ok := functions[e.text]
	if !ok {
		return c.unknown(e)
	}
	if len(e.of) > len(f.takes) || len(e.of) < len(f.takes)-f.optional {
		return c.fail(e, "", "%s takes %s, not %d", e.text, counted(len(f.takes)-f.optional, len(f.takes)), len(e.of))
	}
	args := make([]eval, len(e.of))
	isConstant := len(e.of) > 0
	for i, arg := range e.of {
		var k kind
		args[i], k = c.expr(arg)
		if !takes(f.takes[i], k) {
			return c.fail(e, "", "%s takes %s, not %s", e.text, f.takes[i], k)
		}
		isConstant = isConstant && arg.form == formLiteral
	}
	var predicate eval
	if f.predicate && len(args) == 2 {
		predicate, args = args[1], args[:1]
	}
	call := &call{e: e, args: make([]value, len(args)), predicate: predicate} // used for each event
	evaluate := func(env *env) value {
		call.env = env
		for i, arg := range args {
			call.args[i] = arg(env)
			if !isOf(call.args[i], f.takes[i]) {
				return env.fail(e.at, "%s takes %s, not %s", e.text, f.takes[i], typeWords[call.args[i].is])
			}
		}
		return f.call(call)
	}
	if isConstant && (e.text == "date" || e.text == "duration") {
		var env env
		v := evaluate(&env)
		if env.err != nil {
			return c.fail(e, `write date("2026-11-21T09:30:15Z") or duration("1m30s")`, "%s cannot be read", e)
		}
		return constant(v), f.returns
	}
	return evaluate, f.returns
}

func counted(least, most int) string {
	switch {
	case least != most:
		return strconv.Itoa(least) + " or " + strconv.Itoa(most) + " arguments"
	case most == 1:
		return "1 argument"
	}
	return strconv.Itoa(most) + " arguments"
}

// takes reports whether a value of kind k can be an argument.
func takes(argument, k kind) bool {
	switch argument {
	case kindText:
		return k.isText()
	case kindNumber:
		return k == kindUnknown || k == kindNumber || k == kindDuration
	}
	return argument == kindUnknown || k == kindUnknown || k == argument
}

// isOf reports whether a value can be an argument of the kind.
func isOf(v value, k kind) bool {
	switch k {
	case kindText:
		return v.is == typeText
	case kindNumber:
		return v.is == typeInt || v.is == typeFloat
	case kindList:
		return v.is == typeList
	}
	return true
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

func mapList(c *call) value {
	list := make([]value, len(c.list()))
	for i, element := range c.list() {
		list[i] = c.apply(element)
	}
	return listValue(list)
}

func sum(c *call) value {
	total := intValue(0)
	for _, element := range c.list() {
		v, ok := calculate("+", total, c.apply(element))
		if !ok || v.is == typeMissing || v.is == typeText {
			return c.fail("sum takes a list of numbers")
		}
		total = v
	}
	return total
}

func length(c *call) value {
	switch v := c.args[0]; v.is {
	case typeText:
		return intValue(int64(utf8.RuneCountInString(v.s)))
	case typeList:
		return intValue(int64(len(v.list())))
	case typeObject:
		return intValue(int64(len(v.object())))
	default:
		return c.fail("len takes a text, a list or an object, not %s", typeWords[v.is])
	}
}

func split(s, separator string) value {
	var list []value
	for _, part := range strings.Split(s, separator) {
		list = append(list, textValue(part))
	}
	return listValue(list)
}

func joinList(c *call) value {
	separator := ""
	if len(c.args) == 2 {
		separator = c.text(1)
	}
	var texts []string
	for _, element := range c.list() {
		if element.is != typeText {
			return c.fail("join takes a list of texts")
		}
		texts = append(texts, element.s)
	}
	return textValue(strings.Join(texts, separator))
}

func toInt(c *call) value {
	v := c.args[0]
	if f, ok := v.float(); ok && v.is == typeFloat {
		return intValue(int64(f))
	}
	if v.is == typeText {
		n, err := strconv.Atoi(v.s)
		if err != nil {
			return c.fail(`int("%s"): the text is not a number`, v.s)
		}
		return intValue(int64(n))
	}
	if v.is != typeInt {
		return c.fail("int takes a number or a text, not %s", typeWords[v.is])
	}
	return v
}

func toFloat(c *call) value {
	v := c.args[0]
	if f, ok := v.float(); ok {
		return floatValue(f)
	}
	f, err := strconv.ParseFloat(v.s, 64)
	switch {
	case v.is != typeText:
		return c.fail("float takes a number or a text, not %s", typeWords[v.is])
	case err != nil:
		return c.fail(`float("%s"): the text is not a number`, v.s)
	}
	return floatValue(f)
}

func date(c *call) value {
	t, ok := parseInstant(c.text(0))
	if !ok {
		return c.fail(`date("%s"): the text is not an instant`, c.text(0))
	}
	return instantValue(t)
}

func duration(c *call) value {
	d, err := time.ParseDuration(c.text(0))
	if err != nil {
		return c.fail(`duration("%s"): the text is not a duration`, c.text(0))
	}
	return intValue(int64(d))
}
