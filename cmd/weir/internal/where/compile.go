package where

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/record"
)

// An env is the input of an evaluation: an event and the current variables.
type env struct {
	record *record.Record
	vars   []value // of let
	item   value   // # in a predicate
	err    *Error  // the first failure
}

// fail keeps the first failure, and returns a missing value.
func (e *env) fail(at int, format string, args ...any) value {
	if e.err == nil {
		e.err = errorAt(at, "", format, args...)
	}
	return value{}
}

// An eval returns the value of an expression.
type eval func(*env) value

func constant(v value) eval { return func(*env) value { return v } }

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
		of, _ := c.object(e)
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

// truth compiles a condition. At run time a value that is not true counts as
// false.
func (c *compiler) truth(e *expr) eval {
	f, k := c.expr(e)
	if k != kindUnknown && k != kindTruth {
		c.fail(e, "", "%s is neither true nor false", k)
	}
	return f
}

func (c *compiler) name(e *expr) (eval, kind) {
	for _, v := range slices.Backward(c.vars) {
		if v.name == e.text {
			return func(env *env) value { return env.vars[v.slot] }, v.kind
		}
	}
	f, ok := find(eventFields, e.text)
	if !ok {
		return c.unknown(e)
	}
	if e.text == "level" {
		c.use("severity")
	} else {
		c.use(e.text)
	}
	return func(env *env) value { return f.get(env.record) }, f.kind
}

func (c *compiler) unknown(e *expr) (eval, kind) {
	hint := "an event has " + strings.Join(namesOf(eventFields), ", ") + "; its fields are in data, as in data.rows"
	near := suggestion(e.text)
	if e.form == formCall {
		hint = "the functions are " + strings.Join(functionNames(), ", ")
		near = cli.Suggest(e.text, functionNames())
	}
	return c.fail(e, hint, "unknown name %s%s", e.text, didYouMean(near))
}

func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return ", did you mean " + near + "?"
}

// object compiles the operand of a member or an index.
func (c *compiler) object(e *expr) (eval, kind) {
	of, k := c.expr(e.of[0])
	if k != kindUnknown && k != kindObject && k != kindList {
		return c.fail(e, "", "%s has no members", k)
	}
	return of, k
}

func (c *compiler) member(e *expr) (eval, kind) {
	if object := e.of[0]; object.form == formName && memberFields[object.text] != nil && !c.declared(object.text) {
		return c.field(e, object.text)
	}
	of, k := c.object(e)
	if k == kindList {
		hint := `look into each, as in --where 'any(errors, .message contains "refused")'`
		return c.fail(e, hint, "a list has no %s", e.text)
	}
	key := e.text
	return func(env *env) value { return of(env).member(key) }, kindUnknown
}

// field compiles a member of http or auth.
func (c *compiler) field(e *expr, object string) (eval, kind) {
	f, ok := find(memberFields[object], e.text)
	if !ok {
		names := namesOf(memberFields[object])
		hint := object + " has " + strings.Join(names, ", ") + "; others that a line has are in extra." + object
		return c.fail(e, hint, "unknown name %s.%s%s", object, e.text, didYouMean(cli.Suggest(e.text, names)))
	}
	c.use(object + "." + f.name)
	isAuth := object == "auth"
	return func(env *env) value {
		if isAuth && env.record.Auth == nil || !isAuth && env.record.HTTP == nil {
			return value{}
		}
		return f.get(env.record)
	}, f.kind
}

func (c *compiler) declared(name string) bool {
	return slices.ContainsFunc(c.vars, func(v variable) bool { return v.name == name })
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
		if from.is != typeInt || to.is != typeInt {
			return env.fail(e.at, "a part from %s to %s", typeWords[from.is], typeWords[to.is])
		}
		switch v.is {
		case typeText:
			i, j := clamp(from.n, to.n, len(v.s))
			return textValue(v.s[i:j])
		case typeList:
			i, j := clamp(from.n, to.n, len(v.list()))
			return listValue(v.list()[i:j])
		}
		return env.fail(e.at, "%s has no parts", typeWords[v.is])
	}, k
}

// clamp returns the bounds of a part as they are within n elements. Negative
// bounds count from the end.
func clamp(from, to int64, n int) (int64, int64) {
	within := func(at int64) int64 {
		if at < 0 {
			at += int64(n)
		}
		return min(max(at, 0), int64(n))
	}
	from, to = within(from), within(to)
	return min(from, to), to
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
	if k != kindUnknown && k != kindNumber && k != kindDuration {
		return c.fail(e, "", "%s %s cannot be calculated", e.text, k)
	}
	return func(env *env) value {
		v := f(env)
		if _, ok := v.float(); !ok {
			return env.fail(e.at, "%s %s cannot be calculated", e.text, typeWords[v.is])
		}
		if e.text == "+" {
			return v
		}
		result, _ := calculate("*", intValue(-1), v)
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
	if _, ok := find(eventFields, e.text); ok || c.declared(e.text) {
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
	switch e.text {
	case "&&", "and":
		a, b := c.truth(e.of[0]), c.truth(e.of[1])
		return func(env *env) value { return truthValue(a(env).isTrue() && b(env).isTrue()) }, kindTruth
	case "||", "or":
		a, b := c.truth(e.of[0]), c.truth(e.of[1])
		return func(env *env) value { return truthValue(a(env).isTrue() || b(env).isTrue()) }, kindTruth
	case "==", "!=", "<", "<=", ">", ">=":
		return c.comparison(e)
	case "contains", "startsWith", "endsWith":
		a, b := c.text(e.of[0]), c.text(e.of[1])
		return func(env *env) value { return truthValue(compare(e.text, a(env), b(env))) }, kindTruth
	case "matches":
		return c.matches(e)
	case "in":
		return c.in(e)
	case "..":
		return c.span(e)
	}
	a, k := c.expr(e.of[0])
	b, other := c.expr(e.of[1])
	if e.text == "??" {
		return func(env *env) value {
			if v := a(env); v.is != typeMissing {
				return v
			}
			return b(env)
		}, k
	}
	result, ok := calculated(e.text, k, other)
	if !ok {
		return c.fail(e, "", "%s %s %s cannot be calculated", k, e.text, other)
	}
	if k == kindInstant || other == kindInstant {
		return func(env *env) value { return shift(e.text, a(env), b(env)) }, result
	}
	return func(env *env) value {
		x, y := a(env), b(env)
		v, ok := calculate(e.text, x, y)
		if !ok {
			return env.fail(e.at, "%s %s %s cannot be calculated", typeWords[x.is], e.text, typeWords[y.is])
		}
		return v
	}, result
}

// text compiles a side of an operator on texts.
func (c *compiler) text(e *expr) eval {
	f, k := c.expr(e)
	if !k.isText() {
		c.fail(e, "", "%s is not a text", k)
	}
	return f
}

func (c *compiler) matches(e *expr) (eval, kind) {
	a := c.text(e.of[0])
	if pattern := e.of[1]; pattern.form == formLiteral && pattern.kind == kindText {
		re, err := regexp.Compile(pattern.value.s)
		if err != nil {
			return c.fail(e, "", "%v", err)
		}
		b := value{is: typeText, of: re}
		return func(env *env) value { return truthValue(compare("matches", a(env), b)) }, kindTruth
	}
	b := c.text(e.of[1])
	return func(env *env) value {
		x, y := a(env), b(env)
		if x.is == typeMissing || y.is == typeMissing {
			return truthValue(false)
		}
		re, err := regexp.Compile(y.s)
		if err != nil || x.is != typeText || y.is != typeText {
			return env.fail(e.at, "%s matches %s: not a text and a pattern", typeWords[x.is], typeWords[y.is])
		}
		return truthValue(re.MatchString(x.s))
	}, kindTruth
}

// comparison compiles a comparison, and converts its sides if necessary.
func (c *compiler) comparison(e *expr) (eval, kind) {
	a, k := c.expr(e.of[0])
	b, other := c.expr(e.of[1])
	isRanked := e.text != "==" && e.text != "!="
	if !isRanked && (e.of[0].isNil() || e.of[1].isNil()) {
		return func(env *env) value {
			same := a(env).is == typeMissing && b(env).is == typeMissing
			return truthValue(same == (e.text == "=="))
		}, kindTruth
	}
	for i, side := range []kind{k, other} {
		if isRanked && (side == kindTruth || side == kindObject || side == kindList || e.of[i].isNil()) {
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
	return func(env *env) value { return truthValue(compare(e.text, a(env), b(env))) }, kindTruth
}

func (e *expr) isNil() bool { return e.form == formLiteral && e.text == "nil" }

// comparable reports whether values of the kinds can be equal.
func comparable(a, b kind) bool {
	return a == b || a == kindUnknown || b == kindUnknown ||
		a == kindText && b.isText() || b == kindText && a.isText()
}

// asKind converts a side of a comparison for a comparison with another kind: an
// instant to a point in time, a level to its rank if the order matters, and a
// literal text to an instant, duration or level.
func (c *compiler) asKind(e *expr, f eval, k, other kind, isRanked bool) (eval, kind) {
	isText := e.form == formLiteral && k == kindText
	switch {
	case isText && other == kindInstant:
		t, ok := parseInstant(e.value.s)
		if !ok {
			hint := `write "2026-11-21T09:30:15Z", "2026-11-21T09:30", which is in UTC, or now() - 1h`
			return c.fail(e, hint, "%q is not an instant", e.value.s)
		}
		return constant(instantValue(t)), kindInstant
	case isText && other == kindDuration:
		d, err := time.ParseDuration(e.value.s)
		if err != nil {
			return c.fail(e, "durations are written as 250ms or 1m30s", "%q is not a duration", e.value.s)
		}
		return constant(intValue(int64(d))), kindDuration
	case isText && other == kindLevel:
		level, err := log.ParseLevel(e.value.s)
		if err != nil {
			hint := "the levels are " + strings.Join(levelNames, ", ")
			return c.fail(e, hint, "%q is not a level%s", e.value.s, didYouMean(cli.Suggest(e.value.s, levelNames)))
		}
		if !isRanked {
			return constant(textValue(level.String())), kindLevel
		}
		return constant(intValue(int64(level))), kindLevel
	case k == kindNumber && other == kindDuration:
		if e.form != formLiteral || e.value != intValue(0) {
			return c.fail(e, "durations are written as 250ms or 1m30s", "a number is compared with a duration")
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
	var b eval
	switch list := e.of[1]; {
	case list.form == formList:
		b, _ = c.list(list, k)
	case list.form == formBinary && list.text == "..":
		from, _ := c.expr(list.of[0])
		to, _ := c.expr(list.of[1])
		return func(env *env) value { return truthValue(isBetween(a(env), from(env), to(env))) }, kindTruth
	default:
		f, of := c.expr(list)
		if of != kindUnknown && of != kindList && of != kindObject {
			return c.fail(e, "", "%s is neither a list nor an object", of)
		}
		b = f
	}
	return func(env *env) value {
		x, y := a(env), b(env)
		switch y.is {
		case typeMissing:
			return truthValue(false)
		case typeObject:
			_, ok := y.object()[x.s]
			return truthValue(ok && x.is == typeText)
		case typeList:
			return truthValue(slices.ContainsFunc(y.list(), func(v value) bool { return compare("==", x, v) }))
		}
		return env.fail(e.at, "%s is neither a list nor an object", typeWords[y.is])
	}, kindTruth
}

// isBetween reports whether v is an integer from from to to.
func isBetween(v, from, to value) bool {
	f, ok := v.float()
	return ok && f == math.Trunc(f) && compare(">=", v, from) && compare("<=", v, to)
}

const maxSpan = 1_000_000 // elements of a list that .. makes

// span compiles a list of the integers from one to another.
func (c *compiler) span(e *expr) (eval, kind) {
	a, _ := c.expr(e.of[0])
	b, _ := c.expr(e.of[1])
	return func(env *env) value {
		from, to := a(env), b(env)
		if from.is != typeInt || to.is != typeInt || to.n-from.n >= maxSpan {
			return env.fail(e.at, "%s .. %s is not a list", from.string(), to.string())
		}
		var list []value
		for n := from.n; n <= to.n; n++ {
			list = append(list, intValue(n))
		}
		return listValue(list)
	}, kindList
}

// calculated returns the kind of the result of an arithmetic operator, and false
// if it has none for the kinds.
func calculated(operator string, a, b kind) (kind, bool) {
	isSum := operator == "+" || operator == "-"
	switch {
	case a == kindInstant && b == kindInstant && operator == "-":
		return kindDuration, true
	case a == kindInstant && b == kindDuration && isSum, a == kindDuration && b == kindInstant && operator == "+":
		return kindInstant, true
	case a == kindUnknown && isCountable(b), isCountable(a) && b == kindUnknown:
		return kindUnknown, true
	case a == kindDuration && b == kindDuration && operator == "/":
		return kindNumber, true
	case a == kindDuration && b == kindDuration && (isSum || operator == "%"):
		return kindDuration, true
	case a == kindDuration && b == kindNumber && !isSum, a == kindNumber && b == kindDuration && operator == "*":
		return kindDuration, true
	case a == kindNumber && b == kindNumber:
		return kindNumber, true
	case operator == "+" && a != kindInstant && a.isText() && b != kindInstant && b.isText():
		return kindText, true
	}
	return 0, false
}

// isCountable reports whether arithmetic with a value of an unknown kind is
// permitted.
func isCountable(k kind) bool {
	return k == kindUnknown || k == kindNumber || k == kindDuration || k == kindInstant
}
