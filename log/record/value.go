package record

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/text"
)

// A Value is JSON text. The Values of a Record are canonical: without white
// space, strings with the escapes of the event format, numbers in their original
// notation. Canonical Values with the same text are equal.
type Value string

// StringValue returns the Value for a text.
func StringValue(s string) Value { return Value(text.AppendString(nil, s)) }

// Text returns the text of a string, or the JSON text of any other value.
func (v Value) Text() string {
	if !v.isString() {
		return string(v)
	}
	return unquote(string(v))
}

// Any returns the value in the types of encoding/json: nil, bool, string, []any
// or map[string]any, in which the last of repeated keys counts. A number is an
// int64 if it is an integer in range, else a float64.
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
	f, _ := strconv.ParseFloat(word, 64) // infinite if it is out of range
	return f
}

// unquote returns the text of a JSON string.
func unquote(quoted string) string {
	if len(quoted) > 1 && strings.IndexByte(quoted, '\\') < 0 && utf8.ValidString(quoted) {
		return quoted[1 : len(quoted)-1]
	}
	return text.View(jsonscan.AppendUnquoted(make([]byte, 0, len(quoted)), quoted))
}

// valueOf returns the Value of valid JSON.
func valueOf(json string) Value {
	if isCanonical(json) {
		return Value(json)
	}
	return Value(appendCanonical(make([]byte, 0, len(json)), json))
}

// isCanonical reports whether json is certainly canonical: it has no white
// space outside of strings, and no character that may need another escape.
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

// appendCanonical appends json in canonical form.
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
