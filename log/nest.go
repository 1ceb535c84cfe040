package log

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/weirhq/weir/log/internal/ltsv"
)

// A Marshaler is a value that adds itself to an event as an object: MarshalLog
// adds the fields. It may be called while the caller holds locks and must not
// keep e. On an error, or a panic, the value becomes "!ERROR: " and the reason.
//
// An error that is a Marshaler gives its fields to the "data" of the error; see
// [Event.Err].
type Marshaler interface {
	MarshalLog(e Event) error
}

// Objects and arrays deeper than this become an error text: a cycle of
// Marshalers would otherwise end in the one stack overflow that Go cannot
// recover from.
const (
	maxDepth  = 100
	tooDeeply = "nested too deeply"
)

// So do those of which the line has no room for any: a cycle with two ways
// around it, as between parent and children, doubles with each step of depth.
const tooMany = "too many objects"

// countNested counts an object or array that is about to be written, and returns
// why it must not be, or "".
func (e *openEvent) countNested() (reason string) {
	switch e.nested++; {
	case e.depth >= maxDepth:
		return tooDeeply
	case e.nested > e.maxBytes:
		return tooMany
	}
	return ""
}

// Object adds an object whose fields the function adds. The Event that it is
// given is e itself, so that it takes every type that e takes.
//
// Inside, and inside an Array or a Marshaler, what otherwise describes the
// event as a whole (TraceID, SpanID, HTTP, Auth, Err) is a field of the object
// under its usual name ("error" for Err), and At, Send and Logger do nothing.
func (e Event) Object(key string, fields func(Event)) Event {
	if e.isOpen() {
		e.open.object(key, func(e Event) error {
			fields(e)
			return nil
		})
	}
	return e
}

// Array adds an array whose elements the function adds, each with the method
// for its type; their keys are left out, so any will do:
//
//	e.Array("sizes", func(e log.Event) {
//		for _, s := range sizes {
//			e.Int16("", s)
//		}
//	})
func (e Event) Array(key string, elements func(Event)) Event {
	if e.isOpen() && e.open.key(key) {
		e.open.nestAs("[]", func(e Event) error {
			elements(e)
			return nil
		})
	}
	return e
}

// object adds an object whose fields write adds.
func (e *openEvent) object(key string, write func(Event) error) {
	switch {
	case e.notation == notationLTSV && len(e.prefix)+len(key) <= ltsv.MaxPath:
		e.flatten(key, write)
	case e.key(key):
		e.nestAs("{}", write)
	}
}

// nestAs writes a value between brackets: in JSON, and in LTSV as the text of
// that.
func (e *openEvent) nestAs(brackets string, write func(Event) error) {
	mark, outside := len(e.buf), e.notation
	e.notation = notationJSON
	reason := e.nest(brackets, write)
	e.notation = outside
	switch {
	case reason != "":
		e.addFault(reason)
	case outside == notationLTSV:
		e.buf = doubleBackslashes(e.buf, mark)
	}
}

// doubleBackslashes makes of JSON from that byte on, in which nothing else
// needs an escape, a value of LTSV.
func doubleBackslashes(b []byte, from int) []byte {
	n := bytes.Count(b[from:], backslash)
	if n == 0 {
		return b
	}
	b = slices.Grow(b, n)
	read, write := len(b)-1, len(b)+n-1
	b = b[:len(b)+n]
	for ; write > read; read, write = read-1, write-1 {
		if b[write] = b[read]; b[write] == '\\' {
			write--
			b[write] = '\\'
		}
	}
	return b
}

var backslash = []byte{'\\'}

// nest writes a JSON value between brackets, or nothing and returns why.
func (e *openEvent) nest(brackets string, write func(Event) error) (reason string) {
	if reason = e.countNested(); reason != "" {
		return reason
	}
	mark, outside := len(e.buf), e.cursor
	e.depth++
	e.inArray = brackets == "[]"
	e.separator = brackets[0]
	e.setQuick()
	reason = e.try(write)
	if reason == "" && e.separator == brackets[0] { // nothing was added
		e.buf = append(e.buf, brackets[0])
	}
	e.cursor = outside
	if reason != "" {
		e.buf = e.buf[:mark]
		return reason
	}
	e.buf = append(e.buf, brackets[1])
	return ""
}

// flatten writes the members of an object as pairs of LTSV, or one pair where
// there are none.
func (e *openEvent) flatten(key string, write func(Event) error) {
	e.beginData()
	if e.redacts(key) {
		e.beginField(key)
		return
	}
	if reason := e.countNested(); reason != "" {
		e.name(key)
		e.addFault(reason)
		return
	}
	mark, outside := len(e.buf), len(e.prefix)
	e.prefix = append(append(e.prefix, key...), '.')
	e.depth++
	reason := e.try(write)
	e.depth--
	e.prefix = e.prefix[:outside]
	switch {
	case reason != "":
		e.buf = e.buf[:mark]
		e.name(key)
		e.addFault(reason)
	case len(e.buf) == mark:
		e.name(key)
		e.buf = append(e.buf, "{}"...)
	}
}

// try runs write and returns why it failed, or "".
func (e *openEvent) try(write func(Event) error) (reason string) {
	defer func() {
		if p := recover(); p != nil {
			reason = panicText(p)
		}
	}()
	if err := write(e.handle()); err != nil {
		return errorText(err)
	}
	return ""
}

// call runs a method of a value that is not ours and returns its text, or why
// there is none.
func call[T any](value T, method func(T) string) (text, reason string) {
	defer func() {
		if p := recover(); p != nil {
			reason = panicText(p)
			if isNilPointer(value) {
				reason = "nil pointer of type " + reflect.TypeOf(value).String()
			}
		}
	}()
	return method(value), ""
}

func isNilPointer(value any) bool {
	v := reflect.ValueOf(value)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// panicText names what was panicked with. It is never empty, and fmt catches
// panics of the value's own methods.
func panicText(p any) string { return fmt.Sprintf("panic: %v", p) }

// errorText returns the text of an error that is the reason of another.
func errorText(err error) string {
	text, reason := call(err, error.Error)
	switch {
	case reason != "":
		return reason
	case text == "":
		return "an error without a text"
	}
	return text
}
