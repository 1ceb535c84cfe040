package otlpsink

import (
	"strconv"

	"github.com/weirhq/weir/log/record"
)

// putErrors appends the errors of an event: the error of shape v1, and the list. The first error
// is the exception of the conventions, and the others are an attribute.
func (e *encoder) putErrors() {
	v1Error, errors := e.rest.v1Error, e.rest.errors
	isV1 := v1Error != nil && e.exception(v1Error, "error")
	if v1Error != nil && !isV1 {
		e.put(prefixEvent, v1Error)
	}
	if errors == nil {
		return
	}
	if isV1 || errors[0].Value[0] != '[' || errors[0].Inner == 0 || !e.exception(errors[1:], "message") {
		e.put(prefixEvent, errors)
	} else if others := errors[2+errors[1].Inner:]; len(others) > 0 {
		e.putArray(prefixEvent, "errors", others)
	}
}

// exception appends an error, whose message has that key. It reports false for a value that is not
// an object.
func (e *encoder) exception(v []record.Node, message string) bool {
	if v[0].Value[0] != '{' {
		return false
	}
	e.each(v[1:1+v[0].Inner], func(e *encoder, m []record.Node) {
		text, isText := m[0].Text()
		switch {
		case m[0].Key == message && isText:
			e.putText("", attrExceptionMessage, text)
		case m[0].Key != "stack_trace" || !e.putStack(m):
			e.put(prefixException, m)
		}
	})
	return true
}

// putStack appends a stack in the notation of Go: a function, and below it file:line. It reports
// false for a value that is not a list of frames.
func (e *encoder) putStack(v []record.Node) bool {
	if v[0].Value[0] != '[' || v[0].Inner == 0 {
		return false
	}
	e.stack = e.stack[:0]
	for i, next := 1, 0; i < len(v); i = next {
		next = i + 1 + v[i].Inner
		if !e.frame(v[i:next]) {
			return false
		}
	}
	e.buf = appendTextPair(e.buf, e.signal.attributes, "", attrExceptionStack, e.stack[:len(e.stack)-1])
	return true
}

// frame appends a frame and a newline to e.stack. It reports false for a value that is not one: an
// object with the texts function and file and the integer line, and nothing else.
func (e *encoder) frame(v []record.Node) bool {
	var function, file string
	var line int64
	members, known := 0, 0
	e.each(v[1:], func(_ *encoder, m []record.Node) {
		ok := false
		switch m[0].Key {
		case "function":
			function, ok = m[0].Text()
		case "file":
			file, ok = m[0].Text()
		case "line":
			line, ok = integerOf(m[0].Value)
		}
		members++
		if ok {
			known++
		}
	})
	if members != 3 || known != 3 || line < 0 {
		return false
	}
	e.stack = append(append(append(append(e.stack, function...), "\n\t"...), file...), ':')
	e.stack = append(strconv.AppendInt(e.stack, line, 10), '\n')
	return true
}
