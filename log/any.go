package log

import (
	"encoding/json"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// Any adds a value of any type: a [Marshaler] as an object, an error as its
// message, the types that have a method of their own as that method does, and
// the others as encoding/json encodes them. It may allocate.
func (e *Event) Any(key string, value any) *Event {
	if e == nil {
		return nil
	}
	switch v := value.(type) {
	case string:
		return e.Str(key, v)
	case bool:
		return e.Bool(key, v)
	case int:
		return e.Int(key, v)
	case int64:
		return e.Int64(key, v)
	case uint64:
		return e.Uint64(key, v)
	case float64:
		return e.Float64(key, v)
	case float32:
		return e.Float32(key, v)
	case time.Duration:
		return e.Dur(key, v)
	case time.Time:
		return e.Time(key, v)
	case []byte:
		return e.Bytes(key, v)
	case Marshaler:
		e.key(key)
		e.nest("{}", v.MarshalLog)
		return e
	case json.Marshaler: // before error: a type that has both chose its form
	case error:
		text, why := call(v, error.Error)
		e.key(key)
		e.buf = appendText(e.buf, text, why, e.maxBytes)
		return e
	}
	e.key(key)
	e.appendJSON(value)
	return e
}

// appendJSON appends what encoding/json makes of the value.
func (e *Event) appendJSON(value any) {
	// Into a writer of its own, not into e.buf: a MarshalJSON that logs to
	// this event by mistake must not tear what is half written.
	var w jsonWriter
	why := e.try(func(*Event) error {
		enc := json.NewEncoder(&w)
		enc.SetEscapeHTML(false)
		return enc.Encode(value)
	})
	if why != "" {
		e.buf = appendError(e.buf, why, e.maxBytes)
		return
	}
	mark := len(e.buf)
	e.buf = append(e.buf, w.text[:len(w.text)-1]...) // without Encode's newline
	e.buf = text.Harden(e.buf, mark)
}

// A jsonWriter keeps what it is given.
type jsonWriter struct{ text []byte }

func (w *jsonWriter) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	return len(p), nil
}
