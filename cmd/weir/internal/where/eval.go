package where

import (
	"regexp"

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

const maxSpan = 1_000_000 // elements of a list that .. makes

// span returns the list of the integers from one to another.
func span(env *env, at int, from, to value) value {
	if from.is != kindNumber || to.is != kindNumber || to.n-from.n >= maxSpan {
		return env.fail(at, "%s .. %s is not a list", from.string(), to.string())
	}
	var list []value
	for n := from.n; n <= to.n; n++ {
		list = append(list, intValue(n))
	}
	return listValue(list)
}

// match reports whether a text matches a pattern that is not a literal.
func match(env *env, at int, text, pattern value) value {
	if text.is == kindMissing || pattern.is == kindMissing {
		return truthValue(false)
	}
	re, err := regexp.Compile(pattern.s)
	if err != nil || text.is != kindText || pattern.is != kindText {
		return env.fail(at, "%s matches %s: not a text and a pattern", text.is, pattern.is)
	}
	return truthValue(re.MatchString(text.s))
}
