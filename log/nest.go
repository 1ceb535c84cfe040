package log

import (
	"fmt"
	"reflect"

	"github.com/weirhq/weir/log/internal/text"
)

// A Marshaler is a value that adds itself to an event as an object: MarshalLog
// adds the fields. It may be called while the caller holds locks and must not
// keep e. On an error, or a panic, the value becomes "!ERROR: " and the reason.
//
// An error that is a Marshaler gives its fields to the "data" of the error; see
// [Event.Err].
type Marshaler interface {
	MarshalLog(e *Event) error
}

// Objects and arrays deeper than this become an error text: a cycle of
// Marshalers would otherwise end in the one stack overflow that Go cannot
// recover from.
const maxDepth = 100

// Object adds an object whose fields the function adds. The Event that it is
// given is e itself, so that it takes every type that e takes.
//
// Inside, and inside an Array or a Marshaler, what otherwise describes the
// event as a whole (TraceID, SpanID, HTTP, Auth, Err) is a field of the object
// under its usual name ("error" for Err), and At, Send and Logger do nothing.
func (e *Event) Object(key string, fields func(*Event)) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.nest("{}", func(e *Event) error {
		fields(e)
		return nil
	})
	return e
}

// Array adds an array whose elements the function adds, each with the method
// for its type; their keys are left out, so any will do:
//
//	e.Array("sizes", func(e *log.Event) {
//		for _, s := range sizes {
//			e.Int16("", s)
//		}
//	})
func (e *Event) Array(key string, elements func(*Event)) *Event {
	if e == nil {
		return nil
	}
	e.key(key)
	e.nest("[]", func(e *Event) error {
		elements(e)
		return nil
	})
	return e
}

// nest writes a value between brackets, or an error text in its place.
func (e *Event) nest(brackets string, write func(*Event) error) {
	if e.depth >= maxDepth {
		e.buf = appendError(e.buf, "nested too deeply", e.maxBytes)
		return
	}
	// Parts before data may move it while the value is written.
	mark := len(e.buf) - e.starts[partData]
	depth, inArray := e.depth, e.inArray
	e.depth, e.inArray = depth+1, brackets == "[]"
	e.buf = append(e.buf, brackets[0])
	why := e.try(write)
	e.depth, e.inArray = depth, inArray
	if why != "" {
		e.buf = appendError(e.buf[:e.starts[partData]+mark], why, e.maxBytes)
		return
	}
	e.buf = append(e.buf, brackets[1])
}

// try runs write and returns why it failed, or "".
func (e *Event) try(write func(*Event) error) (why string) {
	defer func() {
		if p := recover(); p != nil {
			why = panicText(p)
		}
	}()
	if err := write(e); err != nil {
		return errorText(err)
	}
	return ""
}

// call runs a method of a value that is not ours and returns its text, or why
// there is none.
func call[T any](value T, method func(T) string) (text, why string) {
	defer func() {
		if p := recover(); p != nil {
			why = panicText(p)
			if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
				why = "nil pointer of type " + v.Type().String()
			}
		}
	}()
	return method(value), ""
}

// panicText names what was panicked with. It is never empty, and fmt catches
// panics of the value's own methods.
func panicText(p any) string { return fmt.Sprintf("panic: %v", p) }

// errorText returns the text of an error that is the reason of another.
func errorText(err error) string {
	text, why := call(err, error.Error)
	switch {
	case why != "":
		return why
	case text == "":
		return "an error without a text"
	}
	return text
}

// appendText appends a text, or the reason why there is none.
func appendText(b []byte, value, why string, maxBytes int) []byte {
	if why != "" {
		return appendError(b, why, maxBytes)
	}
	return text.AppendString(b, clip(value, maxBytes))
}

// appendError appends what stands for a value that cannot be encoded.
func appendError(b []byte, why string, maxBytes int) []byte {
	return text.AppendString(b, "!ERROR: "+clip(why, maxBytes))
}
