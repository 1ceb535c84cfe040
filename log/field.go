package log

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// Str adds a string.
func (e *Event) Str(key, value string) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.buf = text.AppendString(e.buf, clip(value, e.maxBytes))
	return e
}

// Bytes adds bytes as base64, with padding.
func (e *Event) Bytes(key string, value []byte) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.buf = append(e.buf, '"')
	e.buf = base64.StdEncoding.AppendEncode(e.buf, clip(value, e.maxBytes))
	e.buf = append(e.buf, '"')
	return e
}

// Hex adds bytes as hexadecimal digits in lower case.
func (e *Event) Hex(key string, value []byte) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.buf = append(e.buf, '"')
	e.buf = hex.AppendEncode(e.buf, clip(value, e.maxBytes))
	e.buf = append(e.buf, '"')
	return e
}

// Bool adds true or false.
func (e *Event) Bool(key string, value bool) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.buf = strconv.AppendBool(e.buf, value)
	return e
}

// Int adds a number.
func (e *Event) Int(key string, value int) *Event { return e.Int64(key, int64(value)) }

// Int8 adds a number.
func (e *Event) Int8(key string, value int8) *Event { return e.Int64(key, int64(value)) }

// Int16 adds a number.
func (e *Event) Int16(key string, value int16) *Event { return e.Int64(key, int64(value)) }

// Int32 adds a number.
func (e *Event) Int32(key string, value int32) *Event { return e.Int64(key, int64(value)) }

// Int64 adds a number. Readers that know only float64 lose digits beyond 2^53.
func (e *Event) Int64(key string, value int64) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.buf = strconv.AppendInt(e.buf, value, 10)
	return e
}

// Uint adds a number.
func (e *Event) Uint(key string, value uint) *Event { return e.Uint64(key, uint64(value)) }

// Uint8 adds a number.
func (e *Event) Uint8(key string, value uint8) *Event { return e.Uint64(key, uint64(value)) }

// Uint16 adds a number.
func (e *Event) Uint16(key string, value uint16) *Event { return e.Uint64(key, uint64(value)) }

// Uint32 adds a number.
func (e *Event) Uint32(key string, value uint32) *Event { return e.Uint64(key, uint64(value)) }

// Uint64 adds a number. Readers that know only float64 lose digits beyond 2^53.
func (e *Event) Uint64(key string, value uint64) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.buf = strconv.AppendUint(e.buf, value, 10)
	return e
}

// Float32 adds a number with the digits that a float32 needs. NaN and the
// infinities, which JSON lacks, become "NaN", "+Inf" and "-Inf".
func (e *Event) Float32(key string, value float32) *Event {
	return e.float(key, float64(value), 32)
}

// Float64 adds a number. NaN and the infinities, which JSON lacks, become
// "NaN", "+Inf" and "-Inf".
func (e *Event) Float64(key string, value float64) *Event {
	return e.float(key, value, 64)
}

func (e *Event) float(key string, value float64, bits int) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.buf = text.AppendFloat(e.buf, value, bits)
	return e
}

// Time adds an instant: RFC 3339 in UTC, to the nanosecond.
func (e *Event) Time(key string, value time.Time) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.buf = e.appendInstant(e.buf, value)
	return e
}

func (e *Event) appendInstant(b []byte, t time.Time) []byte {
	b = append(b, '"')
	return append(e.clock.Append(b, t), '"')
}

// Dur adds a duration as a number of nanoseconds.
func (e *Event) Dur(key string, value time.Duration) *Event {
	return e.Int64(key, int64(value))
}

// Stringer adds what value.String returns. It is not called when the event is
// disabled.
func (e *Event) Stringer(key string, value fmt.Stringer) *Event {
	if e == nil {
		return nil
	}
	text, why := call(value, fmt.Stringer.String)
	e.key(key)
	e.buf = appendText(e.buf, text, why, e.maxBytes)
	return e
}

// Strs adds an array of strings; nil is an empty one. As with the other
// slices, see [Event.Array] for elements of another type.
func (e *Event) Strs(key string, values []string) *Event {
	return elements(e, key, values, (*Event).Str)
}

// Ints adds an array of numbers.
func (e *Event) Ints(key string, values []int) *Event {
	return elements(e, key, values, (*Event).Int)
}

// Int64s adds an array of numbers.
func (e *Event) Int64s(key string, values []int64) *Event {
	return elements(e, key, values, (*Event).Int64)
}

// Uint64s adds an array of numbers.
func (e *Event) Uint64s(key string, values []uint64) *Event {
	return elements(e, key, values, (*Event).Uint64)
}

// Float64s adds an array of numbers.
func (e *Event) Float64s(key string, values []float64) *Event {
	return elements(e, key, values, (*Event).Float64)
}

// Bools adds an array of true and false.
func (e *Event) Bools(key string, values []bool) *Event {
	return elements(e, key, values, (*Event).Bool)
}

// Durs adds an array of durations, each a number of nanoseconds.
func (e *Event) Durs(key string, values []time.Duration) *Event {
	return elements(e, key, values, (*Event).Dur)
}

// elements adds an array, each of its values with the method for one.
func elements[T any](e *Event, key string, values []T, add func(*Event, string, T) *Event) *Event {
	return e.Array(key, func(e *Event) {
		for _, v := range values {
			add(e, "", v)
		}
	})
}

// key begins a field: data itself before the first, a comma between two, and
// the key, which elements of arrays go without.
func (e *Event) key(key string) {
	if e.last != partData {
		e.advance(partData)
		e.buf = append(e.buf, `,"data":{`...)
	}
	// A value never ends in an opening bracket: those of strings stand within
	// quotes.
	if last := e.buf[len(e.buf)-1]; last != '{' && last != '[' {
		e.buf = append(e.buf, ',')
	}
	if !e.inArray {
		e.buf = text.AppendString(e.buf, clip(key, e.maxBytes))
		e.buf = append(e.buf, ':')
	}
}
