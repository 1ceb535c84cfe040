package log

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"reflect"
	"time"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/ltsv"
	"github.com/weirhq/weir/log/internal/text"
)

// Any adds a value of any type: an error as its message, another [Marshaler] as
// an object, a [url.URL] as [Event.URL] adds it, types that have a method of their own in the same way as that
// method, and all others as encoding/json encodes them. A value that cannot be
// encoded becomes an error text.
//
// Nil, booleans, numbers and strings do not allocate, except if the compiler
// has to store a variable in the heap to convert it to any. Other values may
// allocate.
func (e Event) Any(key string, value any) Event {
	if e.isOpen() {
		e.open.any(key, value)
	}
	return e
}

func (e *openEvent) any(key string, value any) {
	switch v := value.(type) {
	case nil:
		if e.key(key) {
			e.buf = append(e.buf, "null"...)
		}
	case string:
		e.str(key, v)
	case bool:
		e.bool(key, v)
	case int:
		e.int64(key, int64(v))
	case int64:
		e.int64(key, v)
	case uint64:
		e.uint64(key, v)
	case float64:
		e.float(key, v, 64)
	case float32:
		e.float(key, float64(v), 32)
	case time.Duration:
		e.int64(key, int64(v))
	case time.Time:
		e.time(key, v)
	case []byte:
		e.bytes(key, v, base64.StdEncoding.AppendEncode)
	case *url.URL:
		if v == nil {
			e.json(key, v)
		} else {
			e.url(key, v.String())
		}
	case url.URL:
		e.url(key, v.String())
	case Marshaler:
		if err, ok := value.(error); ok { // its message has more information than its fields
			e.addErrorText(key, err)
		} else {
			e.object(key, v.MarshalLog)
		}
	case json.Marshaler: // before error: a type that implements both chose its JSON
		e.json(key, v)
	case error:
		e.addErrorText(key, v)
	case encoding.TextMarshaler, json.Number: // encoding/json treats them in another way than their kind
		e.json(key, v)
	default:
		e.kind(key, v)
	}
}

// kind adds the value of a type without methods that choose its form. It gives
// the same result as json, without its cost for the basic kinds.
func (e *openEvent) kind(key string, value any) {
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.String:
		e.str(key, v.String())
	case v.Kind() == reflect.Bool:
		e.bool(key, v.Bool())
	case v.CanInt():
		e.int64(key, v.Int())
	case v.CanUint() && v.Kind() != reflect.Uintptr:
		e.uint64(key, v.Uint())
	case v.CanFloat() && text.IsNumber(v.Float()):
		e.float(key, v.Float(), v.Type().Bits())
	default:
		e.json(key, value)
	}
}

// json adds the value as encoding/json encodes it.
func (e *openEvent) json(key string, value any) {
	encoded, reason := e.encodeJSON(value)
	switch {
	case reason != "":
		if e.key(key) {
			e.addFault(reason)
		}
	case e.notation == notationLTSV:
		e.beginData()
		if e.redacts(key) {
			e.beginField(key)
			return
		}
		e.buf = ltsv.AppendJSON(e.buf, string(e.prefix)+key, encoded)
	case e.key(key):
		e.buf = append(e.buf, encoded...)
	}
}

// encodeJSON returns the JSON of the value in a form that is safe in a line, or
// the reason why it has none.
func (e *openEvent) encodeJSON(value any) (encoded []byte, reason string) {
	// Encode into a separate writer, not into e.buf: a MarshalJSON that logs to
	// this event by mistake must not corrupt a half-written field.
	var w jsonWriter
	reason = e.try(func(Event) error {
		enc := json.NewEncoder(&w)
		enc.SetEscapeHTML(false)
		return enc.Encode(value)
	})
	if reason != "" {
		return nil, reason
	}
	encoded = text.EscapeControls(w.text[:len(w.text)-1]) // without Encode's newline
	return e.redactJSON(encoded), ""
}

// A jsonWriter collects the bytes written to it.
type jsonWriter struct{ text []byte }

func (w *jsonWriter) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	return len(p), nil
}

// redactJSON returns the JSON with its secrets replaced, or b itself if it is
// not an object or array.
func (e *openEvent) redactJSON(b []byte) []byte {
	if e.out.redact == nil || b[0] != '{' && b[0] != '[' {
		return b
	}
	outside := e.notation
	e.notation = notationJSON // of the URLs in b
	s := jsonscan.Scan(b)
	b = e.appendJSON(make([]byte, 0, len(b)), &s)
	e.notation = outside
	return b
}

// appendJSON appends the next value of s.
func (e *openEvent) appendJSON(dst []byte, s *jsonscan.Scanner[[]byte]) []byte {
	switch s.Peek() {
	case '{':
		return e.appendObject(dst, s)
	case '[':
		s.Enter()
		dst = append(dst, '[')
		for n := 0; s.Element(); n++ {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendJSON(dst, s)
		}
		return append(dst, ']')
	}
	return append(dst, s.Value()...)
}

func (e *openEvent) appendObject(dst []byte, s *jsonscan.Scanner[[]byte]) []byte {
	var scratch [64]byte
	s.Enter()
	separator := byte('{')
	var before []byte // the key of the last member, quoted
	for {
		key, ok := s.Member()
		switch {
		case !ok && separator == '{':
			return append(dst, "{}"...)
		case !ok:
			return append(dst, '}')
		}
		dst = append(append(append(dst, separator), key...), ':')
		separator = ','
		name := jsonscan.AppendUnquoted(scratch[:0], key)
		switch {
		case e.out.redact.redacts(string(name)):
			s.Value()
			dst = text.AppendString(dst, redacted)
		case s.Peek() == '"':
			dst = e.appendTextMember(dst, string(before), string(name), s.Value())
		default:
			dst = e.appendJSON(dst, s)
		}
		before = key
	}
}
