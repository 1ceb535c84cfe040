package where

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/record"
)

// A kind is the type of a value, or the type that an expression is known to have
// before it is evaluated.
type kind uint8

const (
	kindMissing kind = iota // values only
	kindUnknown             // expressions only: a field of data, or a result of one
	kindTruth
	kindNumber // of a value: an integer
	kindFloat  // values only
	kindText
	kindDuration // expressions only: a number of nanoseconds
	kindInstant  // of an expression: a text, or an instant
	kindLevel    // expressions only: a text
	kindObject
	kindList
)

var kindWords = [...]string{"a missing value", "a value", "true or false", "a number", "a number", "a text",
	"a duration", "an instant", "a level", "an object", "a list"}

func (k kind) String() string { return kindWords[k] }

func (k kind) in(kinds ...kind) bool { return slices.Contains(kinds, k) }

// isText reports whether values of the kind are texts, or may be.
func (k kind) isText() bool { return k.in(kindUnknown, kindText, kindInstant, kindLevel) }

// A value is a value of an expression. The zero value is a missing one.
type value struct {
	is    kind
	nanos int32  // of an instant
	n     int64  // a truth (0 or 1), an integer, the bits of a float, the Unix seconds of an instant
	s     string // a text; for an object of fields, the prefix of the keys of its members

	// An object is a *[]record.Field, a *record.Error or a map[string]any, and a
	// list a []value.
	of any
}

func intValue(n int64) value     { return value{is: kindNumber, n: n} }
func floatValue(f float64) value { return value{is: kindFloat, n: int64(math.Float64bits(f))} }
func textValue(s string) value   { return value{is: kindText, s: s} }
func listValue(l []value) value  { return value{is: kindList, of: l} }

func ofText(s *string) value { return textValue(*s) }

// listOf returns a list of the values of elements.
func listOf[E any](elements []E, of func(*E) value) value {
	list := make([]value, len(elements))
	for i := range elements {
		list[i] = of(&elements[i])
	}
	return listValue(list)
}

func truthValue(b bool) value {
	if b {
		return value{is: kindTruth, n: 1}
	}
	return value{is: kindTruth}
}

func instantValue(t time.Time) value {
	return value{is: kindInstant, n: t.Unix(), nanos: int32(t.Nanosecond())}
}

// textOrMissing returns a text, or a missing value for "".
func textOrMissing(s string) value {
	if s == "" {
		return value{}
	}
	return textValue(s)
}

func fieldsValue(fields *[]record.Field) value { return value{is: kindObject, of: fields} }

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
		return value{is: kindObject, of: v}
	case []any:
		return listOf(v, func(element *any) value { return anyValue(*element) })
	}
	return value{}
}

// any returns the value as record.Value.Any would return it.
func (v value) any() any {
	switch v.is {
	case kindTruth:
		return v.n == 1
	case kindNumber:
		return v.n
	case kindFloat:
		f, _ := v.float()
		return f
	case kindText:
		return v.s
	case kindInstant:
		return v.time()
	case kindList:
		list := make([]any, len(v.list()))
		for i, element := range v.list() {
			list[i] = element.any()
		}
		return list
	case kindObject:
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

func (v value) isTrue() bool { return v.is == kindTruth && v.n == 1 }

func (v value) time() time.Time { return time.Unix(v.n, int64(v.nanos)).UTC() }

// float returns a number.
func (v value) float() (float64, bool) {
	switch v.is {
	case kindNumber:
		return float64(v.n), true
	case kindFloat:
		return math.Float64frombits(uint64(v.n)), true
	}
	return 0, false
}

// instant returns a point in time, or a missing value. A text may be one.
func (v value) instant() value {
	if v.is == kindText {
		v, _ = parseInstant(v.s)
	}
	if v.is != kindInstant {
		return value{}
	}
	return v
}

// instantForms are the forms of an instant in an expression. Without a zone it is
// in UTC.
var instantForms = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
}

func parseInstant(text string) (value, error) {
	for _, form := range instantForms {
		if t, err := time.Parse(form, text); err == nil {
			return instantValue(t), nil
		}
	}
	return value{}, errors.New("not an instant")
}

// rank returns the number of a level, which is higher for a more severe level.
// It returns a missing value if v is not a level.
func (v value) rank() value {
	if v.is == kindText {
		if level, err := log.ParseLevel(v.s); err == nil {
			return intValue(int64(level))
		}
	}
	return value{}
}

// string returns the text that the function string returns.
func (v value) string() string {
	switch v.is {
	case kindMissing:
		return "<nil>"
	case kindInstant:
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
			return value{is: kindObject, of: inner}
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
	return value{is: kindObject, of: fields, s: prefix + key + "."}
}

// index returns a member of an object, or an element of a list. Negative indices
// count from the end.
func (v value) index(at value) value {
	list := v.list()
	switch {
	case v.is == kindObject && at.is == kindText:
		return v.member(at.s)
	case v.is != kindList || at.is != kindNumber:
		return value{}
	case at.n < 0:
		at.n += int64(len(list))
	}
	if at.n < 0 || at.n >= int64(len(list)) {
		return value{}
	}
	return list[at.n]
}
