package log

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/weirhq/weir/log/internal/ltsv"
)

// A Marshaler is a value that adds itself to an event as an object. MarshalLog
// adds the fields. It may be called while the caller holds locks, and must not
// keep e. If it returns an error or panics, the value becomes "!ERROR: " and
// the reason.
//
// If an error is a Marshaler, its fields are added to the "data" of the error;
// see [Event.Err].
type Marshaler interface {
	MarshalLog(e Event) error
}

// Objects and arrays nested deeper than maxDepth become an error text. A cycle
// of Marshalers would otherwise end in a stack overflow, from which Go cannot
// recover.
const (
	maxDepth  = 100
	tooDeeply = "nested too deeply"
)

// Objects and arrays beyond MaxEventBytes in number become an error text too.
// The objects of a cycle with two paths, such as parent and children, double
// with each level of depth.
const tooMany = "too many objects"

// countNested counts an object or array that is about to be written. It returns
// the reason to reject it, or "".
func (e *openEvent) countNested() (reason string) {
	switch e.nested++; {
	case e.depth >= maxDepth:
		return tooDeeply
	case e.nested > e.maxBytes:
		return tooMany
	}
	return ""
}

// Object adds an object; the function adds its fields. Its Event is e itself,
// so that it supports the same types.
//
// Inside an Object, an Array or a Marshaler, the calls that otherwise describe
// the whole event (TraceID, SpanID, HTTP, Auth, Err) add a field to the object
// under their usual name ("error" for Err), and At, Send and Logger do nothing.
func (e Event) Object(key string, fields func(Event)) Event {
	if e.isOpen() {
		e.open.object(key, func(e Event) error {
			fields(e)
			return nil
		})
	}
	return e
}

// Array adds an array; the function adds its elements, with the method for
// their type. Keys are ignored:
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

// object adds an object; write adds its fields.
func (e *openEvent) object(key string, write func(Event) error) {
	switch {
	case e.notation == notationLTSV && len(e.prefix)+len(key) <= ltsv.MaxPath:
		e.flatten(key, write)
	case e.key(key):
		e.nestAs("{}", write)
	}
}

// nestAs writes a value between brackets. In LTSV the value is JSON text.
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

// doubleBackslashes turns the JSON in b[from:] into a value of LTSV.
// Backslashes are the only characters that need an escape.
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

// nest writes a JSON value between brackets. If it returns a reason, it has
// written nothing.
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

// flatten writes the members of an object as pairs of LTSV, or one pair if
// there are no members.
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

// try calls write and returns the reason of a failure, or "".
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

// call returns the result of a method of a user's value, or the reason why
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

// panicText describes the value of a panic. It is never empty. fmt recovers
// panics of the value's own methods.
func panicText(p any) string { return fmt.Sprintf("panic: %v", p) }

// errorText returns the text of an error that is the reason of a fault.
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
