package log

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"time"

	"github.com/weirhq/weir/log/internal/ltsv"
	"github.com/weirhq/weir/log/internal/text"
)

// The methods for common single values have two parts, so that the compiler
// inlines isOpen. A disabled event then costs no call for its fields.

// Str adds a string.
func (e Event) Str(key, value string) Event {
	if e.isOpen() {
		e.open.str(key, value)
	}
	return e
}

func (e *openEvent) str(key, value string) {
	if e.last != partData {
		e.beginData()
	}
	if e.quick == notationJSON && len(key)+len(value) <= longestQuick {
		text.PutTextMember(&e.buf, e.separator, key, value)
		e.separator = ','
	} else if e.key(key) {
		e.addText(value)
	}
}

// URL adds a string that may be a URL. If [Options.Redact] is set, the values
// of its keys in the query are hidden, and so are user and password.
func (e Event) URL(key, url string) Event {
	if e.isOpen() {
		e.open.url(key, url)
	}
	return e
}

func (e *openEvent) url(key, url string) {
	if e.key(key) {
		e.quote()
		e.addURL("", clip(url, e.maxBytes))
	}
}

// Bytes adds bytes as base64, with padding.
func (e Event) Bytes(key string, value []byte) Event {
	if e.isOpen() {
		e.open.bytes(key, value, base64.StdEncoding.AppendEncode)
	}
	return e
}

// Hex adds bytes as hexadecimal digits in lower case.
func (e Event) Hex(key string, value []byte) Event {
	if e.isOpen() {
		e.open.bytes(key, value, hex.AppendEncode)
	}
	return e
}

func (e *openEvent) bytes(key string, value []byte, encode func(dst, src []byte) []byte) {
	if e.key(key) {
		e.quote()
		e.buf = encode(e.buf, clip(value, e.maxBytes))
		e.quote()
	}
}

// Bool adds true or false.
func (e Event) Bool(key string, value bool) Event {
	if e.isOpen() {
		e.open.bool(key, value)
	}
	return e
}

func (e *openEvent) bool(key string, value bool) {
	switch {
	case !e.key(key):
	case value:
		e.buf = append(e.buf, "true"...)
	default:
		e.buf = append(e.buf, "false"...)
	}
}

// Int adds a number.
func (e Event) Int(key string, value int) Event {
	if e.isOpen() {
		e.open.int64(key, int64(value))
	}
	return e
}

// Int8 adds a number.
func (e Event) Int8(key string, value int8) Event { return e.Int64(key, int64(value)) }

// Int16 adds a number.
func (e Event) Int16(key string, value int16) Event { return e.Int64(key, int64(value)) }

// Int32 adds a number.
func (e Event) Int32(key string, value int32) Event { return e.Int64(key, int64(value)) }

// Int64 adds a number. Readers that know only float64 lose digits beyond 2^53.
func (e Event) Int64(key string, value int64) Event {
	if e.isOpen() {
		e.open.int64(key, value)
	}
	return e
}

func (e *openEvent) int64(key string, value int64) {
	if e.last != partData {
		e.beginData()
	}
	if e.quick == notationJSON && len(key) <= longestQuick {
		text.PutIntMember(&e.buf, e.separator, key, value)
		e.separator = ','
	} else if e.key(key) {
		text.PutInt(&e.buf, value)
	}
}

// Uint adds a number.
func (e Event) Uint(key string, value uint) Event {
	if e.isOpen() {
		e.open.uint64(key, uint64(value))
	}
	return e
}

// Uint8 adds a number.
func (e Event) Uint8(key string, value uint8) Event { return e.Uint64(key, uint64(value)) }

// Uint16 adds a number.
func (e Event) Uint16(key string, value uint16) Event { return e.Uint64(key, uint64(value)) }

// Uint32 adds a number.
func (e Event) Uint32(key string, value uint32) Event { return e.Uint64(key, uint64(value)) }

// Uint64 adds a number. Readers that know only float64 lose digits beyond 2^53.
func (e Event) Uint64(key string, value uint64) Event {
	if e.isOpen() {
		e.open.uint64(key, value)
	}
	return e
}

func (e *openEvent) uint64(key string, value uint64) {
	if e.key(key) {
		text.PutUint(&e.buf, value)
	}
}

// Float32 adds a number with the digits that a float32 needs. NaN and the
// infinities, which JSON does not have, become "NaN", "+Inf" and "-Inf".
func (e Event) Float32(key string, value float32) Event {
	if e.isOpen() {
		e.open.float(key, float64(value), 32)
	}
	return e
}

// Float64 adds a number. NaN and the infinities, which JSON does not have,
// become "NaN", "+Inf" and "-Inf".
func (e Event) Float64(key string, value float64) Event {
	if e.isOpen() {
		e.open.float(key, value, 64)
	}
	return e
}

func (e *openEvent) float(key string, value float64, bits int) {
	switch {
	case !e.key(key):
	case bits == 64 && text.PutShort(&e.buf, value):
	case text.IsNumber(value):
		e.buf = text.AppendFloat(e.buf, value, bits)
	default:
		e.quote()
		e.buf = text.AppendFloat(e.buf, value, bits)
		e.quote()
	}
}

// Time adds a time: RFC 3339 in UTC, with nanoseconds. A year that does not
// have four digits becomes an error text.
func (e Event) Time(key string, value time.Time) Event {
	if e.isOpen() {
		e.open.time(key, value)
	}
	return e
}

func (e *openEvent) time(key string, value time.Time) {
	if e.key(key) {
		e.quote()
		e.buf = e.clock.Append(e.buf, value)
		e.quote()
	}
}

// Dur adds a duration as a number of nanoseconds.
func (e Event) Dur(key string, value time.Duration) Event {
	if e.isOpen() {
		e.open.int64(key, int64(value))
	}
	return e
}

// Stringer adds the result of value.String, or an error text if that panics or
// value is nil. String is not called if the event is disabled.
func (e Event) Stringer(key string, value fmt.Stringer) Event {
	switch v, ok := value.(*url.URL); {
	case !e.isOpen():
	case ok && v != nil:
		e.open.url(key, v.String())
	default:
		addTextOf(e.open, key, value, fmt.Stringer.String)
	}
	return e
}

// addTextOf adds the result of a method of a user's value.
func addTextOf[T any](e *openEvent, key string, value T, method func(T) string) {
	text, reason := call(value, method)
	if e.key(key) {
		e.addTextOrFault(text, reason)
	}
}

func (e *openEvent) addErrorText(key string, err error) {
	text, reason := e.errorText(err)
	if e.key(key) {
		e.addTextOrFault(text, reason)
	}
}

// Strs adds an array of strings; nil is an empty array. For elements of types without a
// method such as Strs, use [Event.Array].
func (e Event) Strs(key string, values []string) Event {
	return elements(e, key, values, (*openEvent).str)
}

// Ints adds an array of numbers.
func (e Event) Ints(key string, values []int) Event {
	return elements(e, key, values, func(e *openEvent, key string, value int) { e.int64(key, int64(value)) })
}

// Int64s adds an array of numbers.
func (e Event) Int64s(key string, values []int64) Event {
	return elements(e, key, values, (*openEvent).int64)
}

// Uint64s adds an array of numbers.
func (e Event) Uint64s(key string, values []uint64) Event {
	return elements(e, key, values, (*openEvent).uint64)
}

// Float64s adds an array of numbers.
func (e Event) Float64s(key string, values []float64) Event {
	return elements(e, key, values, func(e *openEvent, key string, value float64) { e.float(key, value, 64) })
}

// Bools adds an array of true and false.
func (e Event) Bools(key string, values []bool) Event {
	return elements(e, key, values, (*openEvent).bool)
}

// Durs adds an array of durations, each a number of nanoseconds.
func (e Event) Durs(key string, values []time.Duration) Event {
	return elements(e, key, values, func(e *openEvent, key string, value time.Duration) { e.int64(key, int64(value)) })
}

// elements adds an array; add adds each value.
func elements[T any](e Event, key string, values []T, add func(*openEvent, string, T)) Event {
	return e.Array(key, func(e Event) {
		for _, v := range values {
			add(e.open, "", v)
		}
	})
}

// longestQuick limits the keys and values that need no check against maxBytes.
// It is less than leastMaxEventBytes.
const longestQuick = 256

// key begins a field and reports whether the caller must write its value. It
// returns false if the key is redacted.
func (e *openEvent) key(key string) bool {
	if e.last != partData {
		e.beginData()
	}
	switch {
	case e.quick == noNotation || len(key) > longestQuick:
		return e.beginField(key)
	case e.quick == notationLTSV:
		ltsv.PutLabel(&e.buf, e.prefix, key)
	default:
		text.PutMember(&e.buf, e.separator, key)
		e.separator = ','
	}
	return true
}

// beginField is key for all fields, quick or not. data must have begun.
func (e *openEvent) beginField(key string) bool {
	e.name(key)
	if e.redacts(key) {
		e.addText(redacted)
		return false
	}
	return true
}

// redacts reports whether the value of the key is redacted.
func (e *openEvent) redacts(key string) bool {
	return !e.inArray && e.out.redact.redacts(key)
}

// beginData begins data, before its first field. The opening brace is the
// separator of that field.
func (e *openEvent) beginData() {
	const label, severityAndLabel = `,"data":`, severityLabel + `0,"data":`
	switch {
	case e.last == partData:
		return
	case e.notation == notationLTSV:
		e.advance(partData)
	case e.last == partHead: // the work of advance in one step
		e.buf = append(e.buf, severityAndLabel...)
		e.buf[len(e.buf)-len(label)-1] = e.level.severity()
		e.last, e.starts = partData, startsOfData
	default:
		e.advance(partData)
		e.buf = append(e.buf, label...)
	}
	e.separator = '{'
	e.setQuick()
}

// startsOfData has the offsets of the parts of a line with only severity and
// data.
var startsOfData = [partCount]int{
	partHTTP: len(severityLabel) + 1, partAuth: len(severityLabel) + 1, partData: len(severityLabel) + 1,
}

// setQuick updates quick. It must be called whenever one of its inputs has
// changed.
func (e *openEvent) setQuick() {
	if e.quick = e.notation; e.inArray || e.out.redact != nil {
		e.quick = noNotation
	}
}

// name writes the separator and the key of a field.
func (e *openEvent) name(key string) {
	key = clip(key, e.maxBytes)
	switch {
	case e.notation == notationLTSV:
		ltsv.PutLabel(&e.buf, e.prefix, key)
	case e.inArray:
		e.buf = append(e.buf, e.separator)
	default:
		text.PutMember(&e.buf, e.separator, key)
	}
	e.separator = ','
}

// addText appends a text as the value of a field.
func (e *openEvent) addText(value string) {
	if value = clip(value, e.maxBytes); e.notation == notationJSON {
		text.PutString(&e.buf, value)
		return
	}
	text.PutLTSV(&e.buf, value)
}

// addTextOrFault appends a text, or the reason why there is none.
func (e *openEvent) addTextOrFault(value, reason string) {
	if reason != "" {
		e.addFault(reason)
		return
	}
	e.addText(value)
}

// addFault appends an error text in place of a value that cannot be encoded.
func (e *openEvent) addFault(reason string) {
	e.addText(faultText(reason, e.maxBytes))
}

func faultText(reason string, maxBytes int) string {
	return "!ERROR: " + clip(reason, maxBytes)
}

// quote appends a quote in JSON, around a text that needs no escapes.
func (e *openEvent) quote() {
	if e.notation == notationJSON {
		e.buf = append(e.buf, '"')
	}
}
