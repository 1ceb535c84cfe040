package record

import (
	"strconv"
	"strings"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/text"
)

// A Value is a value as its JSON text: without white space, strings escaped as
// the event format escapes them, numbers as they were written. Values of the
// same text are equal.
type Value string

// StringValue returns the Value of a text.
func StringValue(s string) Value { return Value(text.AppendString(nil, s)) }

// Text returns the text that a string stands for; of any other value, its JSON
// text.
func (v Value) Text() string {
	if !v.isString() {
		return string(v)
	}
	return unquote(string(v))
}

// Fields returns the members of an object, and nil for any other value.
func (v Value) Fields() []Field {
	if !strings.HasPrefix(string(v), "{") {
		return nil
	}
	return appendFields(nil, string(v))
}

// Any returns the value as encoding/json would have it: nil, bool, string,
// []any or map[string]any, in which the last of repeated keys counts. A number
// is an int64 if it was written as an integer that fits, else a float64.
func (v Value) Any() any {
	s := jsonscan.Scan(string(v))
	return build(&s)
}

func (v Value) isString() bool { return strings.HasPrefix(string(v), `"`) }

func build(s *jsonscan.Scanner[string]) any {
	switch s.Peek() {
	case '{':
		return buildObject(s)
	case '[':
		list := []any{}
		for s.Enter(); s.Element(); {
			list = append(list, build(s))
		}
		return list
	case '"':
		return unquote(s.Value())
	}
	switch word := s.Value(); word {
	case "true", "false":
		return word == "true"
	case "null", "":
		return nil
	default:
		return number(word)
	}
}

func buildObject(s *jsonscan.Scanner[string]) map[string]any {
	m := map[string]any{}
	s.Enter()
	for {
		key, ok := s.Member()
		if !ok {
			return m
		}
		m[unquote(key)] = build(s)
	}
}

func number(word string) any {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(word, 64) // what is too large is an infinity
	return f
}

// unquote returns the text of a JSON string.
func unquote(quoted string) string {
	if jsonscan.IsPlain(quoted) {
		return quoted[1 : len(quoted)-1]
	}
	return string(jsonscan.AppendUnquoted(nil, quoted))
}

// appendFields appends the members of an object, which is valid JSON.
func appendFields(fields []Field, object string) []Field {
	s := jsonscan.Scan(object)
	s.Enter()
	for {
		key, ok := s.Member()
		if !ok {
			return fields
		}
		fields = append(fields, Field{unquote(key), valueOf(s.Value())})
	}
}

// valueOf returns the Value of valid JSON.
func valueOf(json string) Value {
	if isCanonical(json) {
		return Value(json)
	}
	return Value(appendCanonical(make([]byte, 0, len(json)), json))
}

// isCanonical reports whether json is certainly the text of a Value: there is
// neither white space outside of strings nor anything in them that may have
// to be escaped, or to be escaped in another way.
func isCanonical(json string) bool {
	inString := false
	for i := range len(json) {
		switch b := json[i]; {
		case b == '"':
			inString = !inString
		case b == '\\' || b >= 0x7F || b < ' ' || b == ' ' && !inString:
			return false
		}
	}
	return true
}

// appendCanonical appends json as the text of a Value.
func appendCanonical(dst []byte, json string) []byte {
	var room [128]byte
	for i := 0; i < len(json); {
		switch b := json[i]; b {
		case '"':
			s := jsonscan.Scan(json[i:])
			quoted := s.Value()
			dst = text.AppendString(dst, string(jsonscan.AppendUnquoted(room[:0], quoted)))
			i += len(quoted)
		case ' ', '\t', '\n', '\r':
			i++
		default:
			dst = append(dst, b)
			i++
		}
	}
	return dst
}
