package where

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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

// isText reports whether values of the kind are texts, or may be.
func (k kind) isText() bool {
	return k == kindUnknown || k == kindText || k == kindInstant || k == kindLevel
}

// accepts reports whether an operand that has to be of kind k may be of another
// kind.
func (k kind) accepts(operand kind) bool {
	return operand == k || operand == kindUnknown || k == kindUnknown ||
		k == kindNumber && operand == kindDuration || k == kindText && operand.isText()
}

// A value is a value of an expression. The zero value is a missing one.
type value struct {
	is    kind
	nanos int32  // of an instant
	n     int64  // a truth (0 or 1), an integer, the bits of a float, the Unix seconds of an instant
	s     string // a text; for an object of fields, the prefix of the keys of its members
	of    any    // an object, which is a *[]record.Field, a *record.Error or a fixed; or a list, which is a []value
}

func intValue[N ~int | ~int8 | ~int64](n N) value { return value{is: kindNumber, n: int64(n)} }
func floatValue(f float64) value                  { return value{is: kindFloat, n: int64(math.Float64bits(f))} }
func textValue(s string) value                    { return value{is: kindText, s: s} }
func objectValue(of any) value                    { return value{is: kindObject, of: of} }
func listValue(l []value) value                   { return value{is: kindList, of: l} }

func truthValue(b bool) value {
	if b {
		return value{is: kindTruth, n: 1}
	}
	return value{is: kindTruth}
}

func instantValue(t time.Time) value {
	return value{is: kindInstant, n: t.Unix(), nanos: int32(t.Nanosecond())}
}

// listOf returns the list of the values of elements.
func listOf[E any](elements []E, of func(E) value) value {
	list := make([]value, len(elements))
	for i, element := range elements {
		list[i] = of(element)
	}
	return listValue(list)
}

func textList(texts []string) value { return listOf(texts, textValue) }

// jsonValue returns a value of JSON.
func jsonValue(v record.Value) value {
	switch (v + " ")[0] {
	case '"':
		return textValue(v.Text())
	case '{':
		fields := v.Fields()
		return objectValue(&fields)
	case '[':
		var elements []json.RawMessage
		json.Unmarshal([]byte(v), &elements) // it is valid
		return listOf(elements, func(m json.RawMessage) value { return jsonValue(record.Value(m)) })
	case 't', 'f':
		return truthValue(v == "true")
	case 'n', ' ':
		return value{}
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return intValue(n)
	}
	f, _ := strconv.ParseFloat(string(v), 64) // infinite if it is out of range
	return floatValue(f)
}

// String returns the text that the function string returns.
func (v value) String() string {
	switch f, _ := v.float(); v.is {
	case kindMissing:
		return "<nil>"
	case kindTruth:
		return strconv.FormatBool(v.isTrue())
	case kindNumber:
		return strconv.FormatInt(v.n, 10)
	case kindFloat:
		return fmt.Sprint(f)
	case kindText:
		return v.s
	case kindInstant:
		return v.time().Format(time.RFC3339Nano)
	case kindObject:
		return fmt.Sprint(v.members())
	}
	return fmt.Sprint(v.list())
}

func (v value) isTrue() bool { return v.is == kindTruth && v.n == 1 }

func (v value) time() time.Time { return time.Unix(v.n, int64(v.nanos)).UTC() }

func (v value) list() []value {
	list, _ := v.of.([]value)
	return list
}

// float returns a number.
func (v value) float() (float64, bool) {
	if v.is == kindFloat {
		return math.Float64frombits(uint64(v.n)), true
	}
	return float64(v.n), v.is == kindNumber
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

// rank returns the number of a level, which is higher for a more severe level.
// It returns a missing value if v is not a level.
func (v value) rank() value {
	level, err := log.ParseLevel(v.s)
	if err != nil {
		return value{}
	}
	return intValue(level)
}

const durationHint = "durations are written as 250ms or 1m30s"

// notations are the notations of kinds that a text can be compared with.
var notations = map[kind]struct {
	parse func(string) (value, error)
	hint  string
}{
	kindInstant:  {parseInstant, `write "2026-11-21T09:30:15Z", "2026-11-21T09:30", which is in UTC, or now() - 1h`},
	kindDuration: {parseDuration, durationHint},
	kindLevel:    {parseLevel, "the levels are " + strings.Join(levelNames[1:], ", ")},
}

// instantForms are the forms of an instant in an expression. Without a zone it is
// in UTC.
var instantForms = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
}

func parseInstant(text string) (v value, err error) {
	for _, form := range instantForms {
		var t time.Time
		if t, err = time.Parse(form, text); err == nil {
			return instantValue(t), nil
		}
	}
	return value{}, err
}

func parseDuration(text string) (value, error) {
	d, err := time.ParseDuration(text)
	return intValue(d), err
}

// levelNames are the levels by severity.
var levelNames = []string{"", "fatal", "error", "warn", "info", "debug"}

func parseLevel(text string) (value, error) {
	level, err := log.ParseLevel(text)
	return textValue(level.String()), err
}

// compare returns the order of two values as cmp.Compare does, and false if they
// have none.
func compare(a, b value) (order int, ok bool) {
	switch {
	case a.is == kindText && b.is == kindText:
		return strings.Compare(a.s, b.s), true
	case a.is == kindNumber && b.is == kindNumber:
		return cmp.Compare(a.n, b.n), true
	case a.is == kindInstant || b.is == kindInstant:
		a, b = a.instant(), b.instant()
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.nanos, b.nanos)), a.is == b.is && a.is != kindMissing
	}
	x, ok := a.float()
	y, isNumber := b.float()
	return cmp.Compare(x, y), ok && isNumber
}

// equal reports whether two values are equal, and false if they cannot be compared.
func equal(a, b value) (isEqual, ok bool) {
	order, ok := compare(a, b)
	switch {
	case ok:
		return order == 0, true
	case a.is == kindMissing || b.is == kindMissing || a.is == kindInstant || b.is == kindInstant:
		return false, false
	case a.is == kindObject && b.is == kindObject:
		return maps.EqualFunc(a.members(), b.members(), same), true
	}
	return a.is == b.is && a.n == b.n && slices.EqualFunc(a.list(), b.list(), same), true
}

// same reports whether two elements or members are equal.
func same(a, b value) bool {
	isEqual, ok := equal(a, b)
	return ok && isEqual || a.is == kindMissing && b.is == kindMissing
}
