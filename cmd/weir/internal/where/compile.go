package where

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// A compiler compiles expressions and checks their kinds. After the first error
// its results are not used.
type compiler struct {
	err     *Error
	members []string // of an event, that the condition uses
	vars    []variable
	slots   int
}

type variable struct {
	name string
	kind kind
	slot int
}

func (c *compiler) fail(e *expr, hint, format string, args ...any) (eval, kind) {
	if c.err == nil {
		c.err = errorAt(e.at, hint, format, args...)
	}
	return constant(value{}), kindUnknown
}

// use records that the condition uses a member of an event.
func (c *compiler) use(name string) {
	if !slices.Contains(c.members, name) {
		c.members = append(c.members, name)
	}
}

// expr compiles an expression.
func (c *compiler) expr(e *expr) (eval, kind) {
	switch e.form {
	case formLiteral:
		return constant(e.value), e.kind
	case formName:
		return c.name(e)
	case formItem:
		return func(env *env) value { return env.item }, kindUnknown
	case formMember:
		return c.member(e)
	case formIndex:
		of, _ := c.operand(e.of[0], e, "has no members", kindObject, kindList)
		at, _ := c.expr(e.of[1])
		return func(env *env) value { return of(env).index(at(env)) }, kindUnknown
	case formSlice:
		return c.slice(e)
	case formList:
		return c.list(e, kindUnknown)
	case formUnary:
		return c.unary(e)
	case formBinary:
		return c.binary(e)
	case formConditional:
		return c.conditional(e)
	case formLet:
		return c.let(e)
	}
	return c.call(e)
}

// operand compiles an expression that has one of the kinds or an unknown one.
// Otherwise the error is that of the expression at.
func (c *compiler) operand(e, at *expr, mistake string, kinds ...kind) (eval, kind) {
	f, k := c.expr(e)
	if k != kindUnknown && !k.in(kinds...) {
		return c.fail(at, "", "%s %s", k, mistake)
	}
	return f, k
}

// truth compiles a condition. At run time a value that is not true counts as
// false.
func (c *compiler) truth(e *expr) eval {
	f, _ := c.operand(e, e, "is neither true nor false", kindTruth)
	return f
}

// text compiles a side of an operator on texts.
func (c *compiler) text(e *expr) eval {
	f, _ := c.operand(e, e, "is not a text", kindText, kindInstant, kindLevel)
	return f
}

func (c *compiler) name(e *expr) (eval, kind) {
	if v := c.variable(e.text); v != nil {
		slot := v.slot
		return func(env *env) value { return env.vars[slot] }, v.kind
	}
	f, ok := find(eventFields, e.text)
	if !ok {
		hint := "an event has " + namesOf(eventFields) + "; its fields are in data, as in data.rows"
		return c.fail(e, hint, "unknown name %s%s", e.text, didYouMean(suggestion(e.text)))
	}
	if e.text == "level" {
		c.use("severity")
	} else {
		c.use(e.text)
	}
	return func(env *env) value { return f.get(env.record) }, f.kind
}

// variable returns the variable of a name, or nil.
func (c *compiler) variable(name string) *variable {
	i := slices.IndexFunc(c.vars, func(v variable) bool { return v.name == name })
	if i < 0 {
		return nil
	}
	return &c.vars[i]
}

func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return ", did you mean " + near + "?"
}

func (c *compiler) member(e *expr) (eval, kind) {
	object, key := e.of[0], e.text
	if object.form == formName && memberFields[object.text] != nil && c.variable(object.text) == nil {
		return c.field(e, object.text)
	}
	of, k := c.operand(object, e, "has no members", kindObject, kindList)
	if k == kindList {
		hint := `look into each, as in --where 'any(errors, .message contains "refused")'`
		return c.fail(e, hint, "a list has no %s", key)
	}
	return func(env *env) value { return of(env).member(key) }, kindUnknown
}

// field compiles a member of http or auth.
func (c *compiler) field(e *expr, object string) (eval, kind) {
	fields := memberFields[object]
	f, ok := find(fields, e.text)
	if !ok {
		hint := object + " has " + namesOf(fields) + "; others that a line has are in extra." + object
		near := cli.Suggest(e.text, sortedNames(fields))
		return c.fail(e, hint, "unknown name %s.%s%s", object, e.text, didYouMean(near))
	}
	c.use(object + "." + f.name)
	return func(env *env) value { return f.get(env.record) }, f.kind
}

func (c *compiler) slice(e *expr) (eval, kind) {
	of, k := c.expr(e.of[0])
	bounds := [2]eval{constant(intValue(0)), constant(intValue(math.MaxInt64))}
	for i, bound := range e.of[1:] {
		if bound != nil {
			bounds[i], _ = c.expr(bound)
		}
	}
	if k != kindList && !k.isText() {
		return c.fail(e, "", "%s has no parts", k)
	}
	return func(env *env) value {
		v, from, to := of(env), bounds[0](env), bounds[1](env)
		switch {
		case from.is != kindNumber || to.is != kindNumber:
			return env.fail(e.at, "a part from %s to %s", from.is, to.is)
		case v.is == kindText:
			i, j := clamp(from.n, to.n, len(v.s))
			return textValue(v.s[i:j])
		case v.is == kindList:
			i, j := clamp(from.n, to.n, len(v.list()))
			return listValue(v.list()[i:j])
		}
		return env.fail(e.at, "%s has no parts", v.is)
	}, k
}

// call compiles a call, and checks its arguments as far as they are known.
func (c *compiler) call(e *expr) (eval, kind) {
	f, ok := functions[e.text]
	if !ok {
		names := slices.Sorted(maps.Keys(functions))
		hint := "the functions are " + strings.Join(names, ", ")
		return c.fail(e, hint, "unknown name %s%s", e.text, didYouMean(cli.Suggest(e.text, names)))
	}
	if len(e.of) > len(f.takes) || len(e.of) < len(f.takes)-f.optional {
		return c.fail(e, "", "%s takes %s, not %d", e.text, counted(len(f.takes)-f.optional, len(f.takes)), len(e.of))
	}
	args := make([]eval, len(e.of))
	for i, arg := range e.of {
		var k kind
		args[i], k = c.expr(arg)
		if !f.takes[i].accepts(k) {
			return c.fail(e, "", "%s takes %s, not %s", e.text, f.takes[i], k)
		}
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
			is, takes := call.args[i].is, f.takes[i]
			if is != takes && takes != kindUnknown && (is != kindFloat || takes != kindNumber) {
				return env.fail(e.at, "%s takes %s, not %s", e.text, takes, is)
			}
		}
		return f.call(call)
	}
	if notations[f.returns].parse != nil && len(args) == 1 && e.of[0].form == formLiteral {
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
		return fmt.Sprintf("%d or %d arguments", least, most)
	case most == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", most)
}

// list compiles a list of values that are compared with a value of kind k.
func (c *compiler) list(e *expr, k kind) (eval, kind) {
	elements := make([]eval, len(e.of))
	for i, element := range e.of {
		f, own := c.expr(element)
		if k != kindInstant { // the elements remain texts then
			f, own = c.asKind(element, f, own, k, false)
		}
		if !comparable(k, own) {
			c.fail(element, "", "%s is compared with %s", k, own)
		}
		elements[i] = f
	}
	return func(env *env) value {
		list := make([]value, len(elements))
		for i, element := range elements {
			list[i] = element(env)
		}
		return listValue(list)
	}, kindList
}

func (c *compiler) unary(e *expr) (eval, kind) {
	if e.text == "not" || e.text == "!" {
		f := c.truth(e.of[0])
		return func(env *env) value { return truthValue(!f(env).isTrue()) }, kindTruth
	}
	f, k := c.expr(e.of[0])
	if !k.in(kindUnknown, kindNumber, kindDuration) {
		return c.fail(e, "", "%s %s cannot be calculated", e.text, k)
	}
	factor := intValue(1)
	if e.text == "-" {
		factor = intValue(-1)
	}
	times := operators["*"]
	return func(env *env) value {
		v := f(env)
		result, ok := times.calculate(factor, v)
		if !ok || v.is == kindMissing {
			return env.fail(e.at, "%s %s cannot be calculated", e.text, v.is)
		}
		return result
	}, k
}

func (c *compiler) conditional(e *expr) (eval, kind) {
	cond := c.truth(e.of[0])
	yes, k := c.expr(e.of[1])
	no, other := c.expr(e.of[2])
	if k != other {
		k = kindUnknown
	}
	return func(env *env) value {
		if cond(env).isTrue() {
			return yes(env)
		}
		return no(env)
	}, k
}

func (c *compiler) let(e *expr) (eval, kind) {
	if _, ok := find(eventFields, e.text); ok || c.variable(e.text) != nil {
		return c.fail(e, "", "%s is declared already", e.text)
	}
	f, k := c.expr(e.of[0])
	slot := c.slots
	c.slots++
	c.vars = append(c.vars, variable{e.text, k, slot})
	body, k := c.expr(e.of[1])
	c.vars = c.vars[:len(c.vars)-1]
	return func(env *env) value {
		env.vars[slot] = f(env)
		return body(env)
	}, k
}

func (c *compiler) binary(e *expr) (eval, kind) {
	operator := operators[e.text]
	switch {
	case e.text == "&&" || e.text == "and":
		a, b := c.truth(e.of[0]), c.truth(e.of[1])
		return func(env *env) value { return truthValue(a(env).isTrue() && b(env).isTrue()) }, kindTruth
	case e.text == "||" || e.text == "or":
		a, b := c.truth(e.of[0]), c.truth(e.of[1])
		return func(env *env) value { return truthValue(a(env).isTrue() || b(env).isTrue()) }, kindTruth
	case operator.isComparison():
		return c.comparison(e, operator)
	case operator.texts != nil:
		a, b := c.text(e.of[0]), c.text(e.of[1])
		return func(env *env) value { return truthValue(operator.compare(a(env), b(env))) }, kindTruth
	case e.text == "matches":
		return c.matches(e)
	case e.text == "in":
		return c.in(e)
	}
	a, k := c.expr(e.of[0])
	b, other := c.expr(e.of[1])
	if e.text == ".." {
		return func(env *env) value { return span(env, e.at, a(env), b(env)) }, kindList
	}
	if e.text == "??" {
		return func(env *env) value {
			if v := a(env); v.is != kindMissing {
				return v
			}
			return b(env)
		}, k
	}
	result, ok := resultKind(e.text, k, other)
	if !ok {
		return c.fail(e, "", "%s %s %s cannot be calculated", k, e.text, other)
	}
	if k == kindInstant || other == kindInstant {
		return func(env *env) value { return shift(e.text, a(env), b(env)) }, result
	}
	return func(env *env) value {
		x, y := a(env), b(env)
		v, ok := operator.calculate(x, y)
		if !ok {
			return env.fail(e.at, "%s %s %s cannot be calculated", x.is, e.text, y.is)
		}
		return v
	}, result
}

func (c *compiler) matches(e *expr) (eval, kind) {
	a, b := c.text(e.of[0]), c.text(e.of[1])
	pattern := e.of[1]
	if pattern.form != formLiteral || pattern.kind != kindText {
		return func(env *env) value { return match(env, e.at, a(env), b(env)) }, kindTruth
	}
	re, err := regexp.Compile(pattern.value.s)
	if err != nil {
		return c.fail(e, "", "%v", err)
	}
	return func(env *env) value {
		v := a(env)
		return truthValue(v.is == kindText && re.MatchString(v.s))
	}, kindTruth
}

// comparison compiles a comparison, and converts its sides if necessary.
func (c *compiler) comparison(e *expr, operator *operator) (eval, kind) {
	a, k := c.expr(e.of[0])
	b, other := c.expr(e.of[1])
	isRanked := !operator.isEquality()
	if !isRanked && (e.of[0].isNil() || e.of[1].isNil()) {
		return func(env *env) value {
			same := a(env).is == kindMissing && b(env).is == kindMissing
			return truthValue(same == (e.text == "=="))
		}, kindTruth
	}
	for i, side := range []kind{k, other} {
		if isRanked && (side.in(kindTruth, kindObject, kindList) || e.of[i].isNil()) {
			return c.fail(e, "", "%s has no order", e.of[i])
		}
	}
	a, left := c.asKind(e.of[0], a, k, other, isRanked)
	b, right := c.asKind(e.of[1], b, other, k, isRanked)
	if !comparable(left, right) {
		hint := ""
		if e.of[0].text == "severity" || e.of[1].text == "severity" {
			hint = `severity is 0 fatal to 4 debug; words are compared with level, as in --where 'level >= "warn"'`
		}
		return c.fail(e, hint, "%s is compared with %s", left, right)
	}
	return func(env *env) value { return truthValue(operator.compare(a(env), b(env))) }, kindTruth
}

// asKind converts a side of a comparison for a comparison with another kind: an
// instant to a point in time, a level to its rank if the order matters, and a
// literal text to an instant, duration or level.
func (c *compiler) asKind(e *expr, f eval, k, other kind, isRanked bool) (eval, kind) {
	if notation, ok := notations[other]; ok && e.form == formLiteral && k == kindText {
		v, err := notation.parse(e.value.s)
		if err != nil {
			near := ""
			if other == kindLevel {
				near = cli.Suggest(e.value.s, levelNames)
			}
			return c.fail(e, notation.hint, "%q is not %s%s", e.value.s, other, didYouMean(near))
		}
		if isRanked && other == kindLevel {
			v = v.rank()
		}
		return constant(v), other
	}
	switch {
	case k == kindNumber && other == kindDuration:
		if e.form != formLiteral || e.value != intValue(0) {
			return c.fail(e, durationHint, "a number is compared with a duration")
		}
		return f, kindDuration
	case k == kindInstant:
		return func(env *env) value { return f(env).instant() }, kindInstant
	case isRanked && (k == kindLevel || other == kindLevel):
		return func(env *env) value { return f(env).rank() }, k
	}
	return f, k
}

// in compiles the test whether a value is in a list, or a key in an object.
func (c *compiler) in(e *expr) (eval, kind) {
	a, k := c.expr(e.of[0])
	list := e.of[1]
	if list.form == formBinary && list.text == ".." {
		from, _ := c.expr(list.of[0])
		to, _ := c.expr(list.of[1])
		least, most := operators[">="], operators["<="]
		return func(env *env) value {
			v, from, to := a(env), from(env), to(env)
			f, ok := v.float()
			return truthValue(ok && f == math.Trunc(f) && least.compare(v, from) && most.compare(v, to))
		}, kindTruth
	}
	var b eval
	if list.form == formList {
		b, _ = c.list(list, k)
	} else {
		b, _ = c.operand(list, e, "is neither a list nor an object", kindList, kindObject)
	}
	isEqual := operators["=="]
	return func(env *env) value {
		x, y := a(env), b(env)
		switch y.is {
		case kindMissing:
			return truthValue(false)
		case kindObject:
			_, ok := y.object()[x.s]
			return truthValue(ok && x.is == kindText)
		case kindList:
			return truthValue(slices.ContainsFunc(y.list(), func(v value) bool { return isEqual.compare(x, v) }))
		}
		return env.fail(e.at, "%s is neither a list nor an object", y.is)
	}, kindTruth
}
