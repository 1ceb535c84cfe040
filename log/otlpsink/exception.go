package otlpsink

import "strconv"

// absent is the offset of a member that an event does not have.
const absent = -1

// putErrors appends the errors of an event, whose values are at these offsets: the error of
// shape v1, and the list. The first error is the exception of the conventions, and the others
// are an attribute.
func (e *encoder) putErrors(v1Error, list int) {
	exception := false
	if v1Error != absent {
		e.at = v1Error
		if exception = e.peek() == '{'; exception {
			e.putException("error")
		} else {
			e.put(prefixEvent, []byte("error"))
		}
	}
	if list == absent {
		return
	}
	e.at = list
	if exception || !e.hasObject() {
		e.put(prefixEvent, []byte("errors"))
		return
	}
	e.expect('[')
	first := true
	e.more(&first, ']')
	e.putException("message")
	if e.more(&first, ']') {
		e.putOthers()
	}
}

// hasObject reports whether the value is an array that begins with an object.
func (e *encoder) hasObject() bool {
	s := e.scanner
	s.expect('[')
	return !s.failed && s.peek() == '{'
}

// putOthers appends the remaining elements of the list as an array.
func (e *encoder) putOthers() {
	var pair, value, list int
	e.rec, pair = open(e.rec, recordAttributes)
	e.rec = putText(e.rec, keyValueKey, prefixEvent+"errors")
	e.rec, value = open(e.rec, keyValueValue)
	e.rec, list = open(e.rec, anyArray)
	for first, more := true, true; more; more = e.more(&first, ']') {
		first = false
		e.putElement(2)
	}
	e.rec = shut(shut(shut(e.rec, list), value), pair)
}

// putException appends an error. Its message has that key.
func (e *encoder) putException(message string) {
	e.expect('{')
	from := len(e.keys)
	var seen uint64
	for first := true; e.more(&first, '}'); {
		switch key := e.member(from, &seen); string(key) {
		case message:
			if v, ok := e.textOr(prefixException, key); ok {
				e.putText(attrExceptionMessage, v)
			}
		case "stack_trace":
			e.stack(key)
		default:
			e.put(prefixException, key)
		}
	}
	e.keys = e.keys[:from]
}

// stack appends a stack in the notation of Go: a function, and below it file:line. If the
// value is not a list of frames, it is an attribute of its own.
func (e *encoder) stack(key []byte) {
	begin, from := e.at, len(e.keys)
	e.frames = e.frames[:0]
	if e.peek() == '[' {
		e.at++
		ok := true
		for first := true; ok && e.more(&first, ']'); {
			ok = e.frame()
		}
		if ok && !e.failed && len(e.frames) > 0 {
			e.putText(attrExceptionStack, e.frames)
			return
		}
	}
	e.keys = e.keys[:from]
	e.rewind(begin)
	e.put(prefixException, key)
}

// frame reads a frame into e.frames, and reports whether it is one: an object with the texts
// function and file and the integer line, and nothing else.
func (e *encoder) frame() bool {
	if e.peek() != '{' {
		return false
	}
	e.at++
	from := len(e.keys)
	var seen uint64
	count := 0
	e.file = e.file[:0]
	function, line := e.function[:0], int64(0)
	for first := true; e.more(&first, '}'); count++ {
		var v []byte
		switch key := e.member(from, &seen); {
		case string(key) == "function" && e.peek() == '"':
			v, e.room = e.str().value(e.room)
			function = append(function, v...)
		case string(key) == "file" && e.peek() == '"':
			v, e.room = e.str().value(e.room)
			e.file = append(e.file, v...)
		case string(key) == "line" && isDigit(e.peek()):
			i, ok := e.number().integer()
			if !ok {
				return false
			}
			line = i
		default:
			return false
		}
	}
	e.keys, e.function = e.keys[:from], function
	if e.failed || count != 3 {
		return false
	}
	if len(e.frames) > 0 {
		e.frames = append(e.frames, '\n')
	}
	e.frames = append(append(append(e.frames, function...), "\n\t"...), e.file...)
	e.frames = strconv.AppendInt(append(e.frames, ':'), line, 10)
	return true
}
