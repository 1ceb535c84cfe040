package errs

import (
	"iter"
	"log/slog"
	"time"

	"github.com/weirhq/weir/log"
)

// A field is what an adder has been given. The values of package slog hold the
// common types without allocating.
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

// Dur adds a duration, which is written as a number of nanoseconds.
func (e *Error) Dur(key string, value time.Duration) *Error {
	return e.add(key, slog.DurationValue(value))
}

// Time adds an instant.
func (e *Error) Time(key string, value time.Time) *Error { return e.add(key, slog.TimeValue(value)) }

// Any adds a value of any type, which [log.Event.Any] encodes when the error is
// logged: until then, and at the latest when the error is handed on, nobody may
// change what it refers to.
func (e *Error) Any(key string, value any) *Error {
	return e.add(key, slog.AnyValue(opaque{value}))
}

// An opaque value is kept as it is. Package slog would make a float64 of a
// float32, with digits that nobody gave.
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

// MarshalLog adds the error's own fields, without those of its cause. It
// implements [log.Marshaler], and is called by [log.Event.Err] for each error
// of a chain.
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

// text returns the value as %+v shows it.
func (f *field) text() string {
	if o, ok := f.value.Any().(opaque); ok {
		return slog.AnyValue(o.value).String()
	}
	return f.value.String()
}
