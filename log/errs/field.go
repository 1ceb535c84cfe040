package errs

import (
	"iter"
	"log/slog"
	"time"

	"github.com/weirhq/weir/log"
)

// A field is a key and a value. A slog.Value holds the common types without
// allocating.
type field struct {
	key   string
	value slog.Value
}

// Str adds a string.
func (e *Error) Str(key, value string) *Error { return e.add(key, slog.StringValue(value)) }

// Int adds a number.
func (e *Error) Int(key string, value int) *Error { return e.add(key, slog.IntValue(value)) }

// Int64 adds a number.
func (e *Error) Int64(key string, value int64) *Error { return e.add(key, slog.Int64Value(value)) }

// Uint64 adds a number.
func (e *Error) Uint64(key string, value uint64) *Error { return e.add(key, slog.Uint64Value(value)) }

// Float64 adds a number.
func (e *Error) Float64(key string, value float64) *Error {
	return e.add(key, slog.Float64Value(value))
}

// Bool adds true or false.
func (e *Error) Bool(key string, value bool) *Error { return e.add(key, slog.BoolValue(value)) }

// Dur adds a duration, written as a number of nanoseconds.
func (e *Error) Dur(key string, value time.Duration) *Error {
	return e.add(key, slog.DurationValue(value))
}

// Time adds a time.
func (e *Error) Time(key string, value time.Time) *Error { return e.add(key, slog.TimeValue(value)) }

// Any adds a value of any type. [log.Event.Any] encodes it when the error is
// logged, so the value must not change after the error was passed on.
func (e *Error) Any(key string, value any) *Error {
	return e.add(key, slog.AnyValue(opaque{value}))
}

// An opaque value is kept as it is. Package slog would convert a float32 to a
// float64, which has additional digits.
type opaque struct{ value any }

func (e *Error) add(key string, value slog.Value) *Error {
	if e.firstCount < len(e.first) {
		e.first[e.firstCount] = field{key, value}
		e.firstCount++
	} else {
		e.more = append(e.more, field{key, value})
	}
	return e
}

// fields yields the error's own fields in the order in which they were added.
func (e *Error) fields() iter.Seq[*field] {
	return func(yield func(*field) bool) {
		if e == nil {
			return
		}
		for i := range e.first[:e.firstCount] {
			if !yield(&e.first[i]) {
				return
			}
		}
		for i := range e.more {
			if !yield(&e.more[i]) {
				return
			}
		}
	}
}

// MarshalLog adds the error's own fields, not the fields of its cause. It implements
// [log.Marshaler]; [log.Event.Err] calls it for each error in a chain.
func (e *Error) MarshalLog(event log.Event) error {
	for f := range e.fields() {
		f.addTo(event)
	}
	return nil
}

var _ log.Marshaler = (*Error)(nil)

func (f *field) addTo(event log.Event) {
	switch v := f.value; v.Kind() {
	case slog.KindString:
		event.Str(f.key, v.String())
	case slog.KindInt64:
		event.Int64(f.key, v.Int64())
	case slog.KindUint64:
		event.Uint64(f.key, v.Uint64())
	case slog.KindFloat64:
		event.Float64(f.key, v.Float64())
	case slog.KindBool:
		event.Bool(f.key, v.Bool())
	case slog.KindDuration:
		event.Dur(f.key, v.Duration())
	case slog.KindTime:
		event.Time(f.key, v.Time())
	default:
		event.Any(f.key, v.Any().(opaque).value)
	}
}

// text returns the value as in %+v.
func (f *field) text() string {
	if o, ok := f.value.Any().(opaque); ok {
		return slog.AnyValue(o.value).String()
	}
	return f.value.String()
}
