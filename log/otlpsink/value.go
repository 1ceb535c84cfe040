package otlpsink

import "google.golang.org/protobuf/encoding/protowire"

// maxValueDepth is the maximum nesting of an attribute. Objects and arrays that are nested
// deeper become texts: many decoders of protobuf accept 100 nested messages, and a level of
// JSON takes up to three.
const maxValueDepth = 16

// textOr returns the value of a member that is a text. It reports false for any other value,
// for which it appends an attribute with that prefix. The text is valid until the next call.
func (e *encoder) textOr(prefix string, key []byte) (text []byte, ok bool) {
	if e.peek() != '"' {
		e.put(prefix, key)
		return nil, false
	}
	text, e.room = e.str().value(e.room)
	return text, true
}

// put appends an attribute for a member of any type. Its name is the prefix and the key.
func (e *encoder) put(prefix string, key []byte) {
	e.name = append(append(e.name[:0], prefix...), key...)
	putMember(e, recordAttributes, e.name, 1)
}

// putMember reads the value of a member and appends a field that is a KeyValue. depth is that
// of the value in the line.
func putMember[K bytesOf](e *encoder, field protowire.Number, key K, depth int) {
	if e.peek() == '"' {
		var text []byte
		text, e.room = e.str().value(e.room)
		e.rec = putTextPair(e.rec, field, key, text)
		return
	}
	var pair, value int
	e.rec, pair = open(e.rec, field)
	e.rec = putText(e.rec, keyValueKey, key)
	e.rec, value = open(e.rec, keyValueValue)
	e.putValue(depth)
	e.rec = shut(shut(e.rec, value), pair)
}

// putValue reads a value and appends the field of an AnyValue. Null has none.
func (e *encoder) putValue(depth int) {
	switch e.peek() {
	case '{', '[':
		e.putMembers(depth)
	case '"':
		var text []byte
		text, e.room = e.str().value(e.room)
		e.rec = putText(e.rec, anyString, text)
	case 't':
		e.word("true")
		e.rec = putVarint(e.rec, anyBool, 1)
	case 'f':
		e.word("false")
		e.rec = putVarint(e.rec, anyBool, 0)
	case 'n':
		e.word("null")
	default:
		if n := e.number(); !e.failed {
			e.rec = putNumber(e.rec, n)
		}
	}
}

// putMembers is putValue for an object or array.
func (e *encoder) putMembers(depth int) {
	begin := e.at
	if depth > maxValueDepth {
		e.ignore(depth)
		if !e.failed {
			e.rec = putText(e.rec, anyString, validText(e.src[begin:e.at]))
		}
		return
	}
	kind, closing := protowire.Number(anyArray), byte(']')
	if e.src[e.at] == '{' {
		kind, closing = anyKVList, '}'
	}
	e.at++
	var list int
	e.rec, list = open(e.rec, kind)
	from := len(e.keys)
	var seen uint64
	for first := true; e.more(&first, closing); {
		if kind == anyKVList {
			putMember(e, listValues, e.member(from, &seen), depth+1)
		} else {
			e.putElement(depth + 1)
		}
	}
	e.keys = e.keys[:from]
	e.rec = shut(e.rec, list)
}

// putElement reads an element of an array and appends it to an ArrayValue.
func (e *encoder) putElement(depth int) {
	var value int
	e.rec, value = open(e.rec, listValues)
	e.putValue(depth)
	e.rec = shut(e.rec, value)
}
