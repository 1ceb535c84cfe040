package where

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/record"
)

// A kind is the static type of an expression.
type kind int

const (
	kindUnknown kind = iota // a field of data, or a result of one
	kindTruth
	kindNumber
	kindText
	kindDuration // a number of nanoseconds
	kindInstant  // a text, or an instant
	kindLevel    // a text
	kindObject
	kindList
)

var kindWords = [...]string{
	kindUnknown:  "a value",
	kindTruth:    "true or false",
	kindNumber:   "a number",
	kindText:     "a text",
	kindDuration: "a duration",
	kindInstant:  "an instant",
	kindLevel:    "a level",
	kindObject:   "an object",
	kindList:     "a list",
}

func (k kind) String() string { return kindWords[k] }

// isText reports whether values of the kind are texts, or may be.
func (k kind) isText() bool {
	return k == kindUnknown || k == kindText || k == kindInstant || k == kindLevel
}

type valueType uint8

const (
	typeMissing valueType = iota
	typeTruth
	typeInt
	typeFloat
	typeText
	typeInstant
	typeObject
	typeList
)

var typeWords = [...]string{
	"a missing value", "true or false", "a number", "a number", "a text", "an instant", "an object", "a list",
}

// A value is a value of an expression. The zero value is a missing one.
type value struct {
	is    valueType
	nanos int32  // of an instant
	n     int64  // a truth (0 or 1), an integer, the bits of a float, the Unix seconds of an instant
	s     string // a text; for an object of fields, the prefix of the keys of its members

	// An object is a *[]record.Field, a *record.Error or a map[string]any, a list
	// a []value, and the pattern of matches a *regexp.Regexp.
	of any
}

func intValue(n int64) value     { return value{is: typeInt, n: n} }
func floatValue(f float64) value { return value{is: typeFloat, n: int64(math.Float64bits(f))} }
func textValue(s string) value   { return value{is: typeText, s: s} }
func listValue(l []value) value  { return value{is: typeList, of: l} }

func truthValue(b bool) value {
	if b {
		return value{is: typeTruth, n: 1}
	}
	return value{is: typeTruth}
}

func instantValue(t time.Time) value {
	return value{is: typeInstant, n: t.Unix(), nanos: int32(t.Nanosecond())}
}

// textOrMissing returns a text, or a missing value for "".
func textOrMissing(s string) value {
	if s == "" {
		return value{}
	}
	return textValue(s)
}

func fieldsValue(fields *[]record.Field) value { return value{is: typeObject, of: fields} }

// jsonValue returns a value of JSON.
func jsonValue(v record.Value) value {
	if v == "" {
		return value{}
	}
	switch v[0] {
	case '"':
		return textValue(v.Text())
	case '{', '[', 't', 'f', 'n':
		return anyValue(v.Any())
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return intValue(n)
	}
	f, _ := strconv.ParseFloat(string(v), 64) // infinite if it is out of range
	return floatValue(f)
}

// anyValue returns a value that record.Value.Any returned.
func anyValue(v any) value {
	switch v := v.(type) {
	case bool:
		return truthValue(v)
	case int64:
		return intValue(v)
	case float64:
		return floatValue(v)
	case string:
		return textValue(v)
	case map[string]any:
		return value{is: typeObject, of: v}
	case []any:
		list := make([]value, len(v))
		for i := range v {
			list[i] = anyValue(v[i])
		}
		return listValue(list)
	}
	return value{}
}

// any returns the value as record.Value.Any would return it.
func (v value) any() any {
	switch v.is {
	case typeTruth:
		return v.n == 1
	case typeInt:
		return v.n
	case typeFloat:
		f, _ := v.float()
		return f
	case typeText:
		return v.s
	case typeInstant:
		return v.time()
	case typeList:
		list := make([]any, len(v.list()))
		for i, element := range v.list() {
			list[i] = element.any()
		}
		return list
	case typeObject:
		return v.object()
	}
	return nil
}

// object returns the members of an object.
func (v value) object() map[string]any {
	m := map[string]any{}
	switch of := v.of.(type) {
	case map[string]any:
		return of
	case *record.Error:
		return map[string]any{"message": of.Message, "data": fieldsValue(&of.Data).object()}
	case *[]record.Field:
		for _, f := range *of {
			if key, ok := strings.CutPrefix(f.Key, v.s); ok {
				m[key] = f.Value.Any()
			}
		}
	}
	return m
}

func (v value) list() []value {
	list, _ := v.of.([]value)
	return list
}

func (v value) isTrue() bool { return v.is == typeTruth && v.n == 1 }

func (v value) time() time.Time { return time.Unix(v.n, int64(v.nanos)).UTC() }

// float returns a number.
func (v value) float() (float64, bool) {
	switch v.is {
	case typeInt:
		return float64(v.n), true
	case typeFloat:
		return math.Float64frombits(uint64(v.n)), true
	}
	return 0, false
}

// instant returns a point in time, or a missing value. A text may be one.
func (v value) instant() value {
	switch v.is {
	case typeInstant:
		return v
	case typeText:
		if t, ok := parseInstant(v.s); ok {
			return instantValue(t)
		}
	}
	return value{}
}

// instantForms are the forms of an instant in an expression. Without a zone it is
// in UTC.
var instantForms = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
}

func parseInstant(text string) (time.Time, bool) {
	for _, form := range instantForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// rank returns the number of a level, which is higher for a more severe level.
// It returns a missing value if v is not a level.
func (v value) rank() value {
	if v.is == typeText {
		if level, err := log.ParseLevel(v.s); err == nil {
			return intValue(int64(level))
		}
	}
	return value{}
}

// string returns the text that the function string returns.
func (v value) string() string {
	switch v.is {
	case typeMissing:
		return "<nil>"
	case typeInstant:
		return v.time().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v.any())
}

// member returns a member of an object, or a missing value. LTSV has keys with
// dots where JSON has objects, so the member may be all keys that begin with key
// and a dot.
func (v value) member(key string) value {
	switch of := v.of.(type) {
	case *record.Error:
		switch key {
		case "message":
			return textValue(of.Message)
		case "data":
			return fieldsValue(&of.Data)
		}
	case *[]record.Field:
		return memberOf(of, v.s, key)
	case map[string]any:
		if member, ok := of[key]; ok {
			return anyValue(member)
		}
		var inner map[string]any
		for k, member := range of {
			if k, ok := strings.CutPrefix(k, key+"."); ok {
				if inner == nil {
					inner = map[string]any{}
				}
				inner[k] = member
			}
		}
		if inner != nil {
			return value{is: typeObject, of: inner}
		}
	}
	return value{}
}

// memberOf returns the last field with the key prefix and key.
func memberOf(fields *[]record.Field, prefix, key string) value {
	dotted := false
	for i := len(*fields) - 1; i >= 0; i-- {
		rest, ok := strings.CutPrefix((*fields)[i].Key, prefix)
		if !ok {
			continue
		}
		if rest, ok = strings.CutPrefix(rest, key); !ok {
			continue
		}
		if rest == "" {
			return jsonValue((*fields)[i].Value)
		}
		dotted = dotted || rest[0] == '.'
	}
	if !dotted {
		return value{}
	}
	return value{is: typeObject, of: fields, s: prefix + key + "."}
}

// index returns a member of an object, or an element of a list. Negative indices
// count from the end.
func (v value) index(at value) value {
	list := v.list()
	switch {
	case v.is == typeObject && at.is == typeText:
		return v.member(at.s)
	case v.is != typeList || at.is != typeInt:
		return value{}
	case at.n < 0:
		at.n += int64(len(list))
	}
	if at.n < 0 || at.n >= int64(len(list)) {
		return value{}
	}
	return list[at.n]
}

// compare reports whether a comparison is true. With a missing value it is false.
func compare(operator string, a, b value) bool {
	switch {
	case a.is == typeMissing || b.is == typeMissing:
		return false
	case a.is == typeInstant || b.is == typeInstant:
		a, b = a.instant(), b.instant()
		if a.is == typeMissing || b.is == typeMissing {
			return false
		}
		return ordered(operator, cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.nanos, b.nanos)))
	case a.is == typeText && b.is == typeText:
		return compareTexts(operator, a.s, b)
	case a.is == typeInt && b.is == typeInt:
		return ordered(operator, cmp.Compare(a.n, b.n))
	}
	x, isNumber := a.float()
	if y, ok := b.float(); ok && isNumber {
		return ordered(operator, cmp.Compare(x, y))
	}
	if operator != "==" && operator != "!=" {
		return false
	}
	return reflect.DeepEqual(a.any(), b.any()) == (operator == "==")
}

func compareTexts(operator, a string, b value) bool {
	switch operator {
	case "==":
		return a == b.s
	case "contains":
		return strings.Contains(a, b.s)
	case "startsWith":
		return strings.HasPrefix(a, b.s)
	case "endsWith":
		return strings.HasSuffix(a, b.s)
	case "matches":
		return b.of.(*regexp.Regexp).MatchString(a)
	}
	return ordered(operator, strings.Compare(a, b.s))
}

func ordered(operator string, order int) bool {
	switch operator {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	return false
}

// calculate returns the result of an arithmetic operator, and false if it is not
// defined for the values. With a missing value, the result is missing.
func calculate(operator string, a, b value) (result value, ok bool) {
	if a.is == typeMissing || b.is == typeMissing {
		return value{}, true
	}
	if a.is == typeText && b.is == typeText {
		return textValue(a.s + b.s), operator == "+"
	}
	if a.is == typeInt && b.is == typeInt {
		switch operator {
		case "+":
			return intValue(a.n + b.n), true
		case "-":
			return intValue(a.n - b.n), true
		case "*":
			return intValue(a.n * b.n), true
		case "%":
			if b.n == 0 {
				return value{}, false
			}
			return intValue(a.n % b.n), true
		}
	}
	x, isNumber := a.float()
	y, ok := b.float()
	if !isNumber || !ok {
		return value{}, false
	}
	switch operator {
	case "+":
		return floatValue(x + y), true
	case "-":
		return floatValue(x - y), true
	case "*":
		return floatValue(x * y), true
	case "/":
		return floatValue(x / y), true
	case "**", "^":
		return floatValue(math.Pow(x, y)), true
	}
	return value{}, false
}

// shift adds a duration to an instant, subtracts one from it, or returns the
// duration from one instant to another. The result is missing where a side is
// missing or of another type.
func shift(operator string, a, b value) value {
	if operator == "+" && a.instant().is == typeMissing {
		a, b = b, a
	}
	from, to := a.instant(), b.instant()
	if from.is == typeMissing {
		return value{}
	}
	if to.is == typeInstant && operator == "-" {
		return intValue(int64(from.time().Sub(to.time())))
	}
	by, ok := b.float()
	switch {
	case ok && operator == "+":
		return instantValue(from.time().Add(time.Duration(by)))
	case ok && operator == "-":
		return instantValue(from.time().Add(-time.Duration(by)))
	}
	return value{}
}
