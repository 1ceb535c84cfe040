package otlpsink

import (
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/record"
)

// maxValueDepth is the maximum nesting of an attribute. Objects and arrays that are nested
// deeper become texts: many decoders of protobuf accept 100 nested messages, and a level of
// JSON takes up to three.
const maxValueDepth = 16

// putText appends an attribute with a text. Its name is the prefix and the key.
func (e *encoder) putText(prefix, key, text string) {
	e.buf = appendTextPair(e.buf, e.signal.attributes, prefix, key, text)
}

// put appends an attribute for a member. Its name is the prefix and the key.
func (e *encoder) put(prefix string, m []record.Node) { e.putMember(e.signal.attributes, prefix, m, 1) }

// putMember appends a field that is a KeyValue. depth is that of the value in the attribute.
func (e *encoder) putMember(field protowire.Number, prefix string, m []record.Node, depth int) {
	if text, ok := m[0].Text(); ok {
		e.buf = appendTextPair(e.buf, field, prefix, m[0].Key, text)
		return
	}
	var pair, value int
	e.buf, pair = open(e.buf, field)
	e.buf = appendKey(e.buf, prefix, m[0].Key)
	e.buf, value = open(e.buf, keyValueValue)
	e.putValue(m, depth)
	e.buf = shut(shut(e.buf, value), pair)
}

// putArray appends an attribute that is an array with these elements.
func (e *encoder) putArray(prefix, key string, elements []record.Node) {
	var pair, value int
	e.buf, pair = open(e.buf, e.signal.attributes)
	e.buf = appendKey(e.buf, prefix, key)
	e.buf, value = open(e.buf, keyValueValue)
	e.putElements(elements, 1)
	e.buf = shut(shut(e.buf, value), pair)
}

// putValue appends the field of an AnyValue. Null has none.
func (e *encoder) putValue(v []record.Node, depth int) {
	text, isText := v[0].Text()
	switch b := v[0].Value[0]; {
	case isText:
		e.buf = appendText(e.buf, anyString, text)
	case (b == '{' || b == '[') && depth > maxValueDepth:
		e.buf = appendText(e.buf, anyString, validText(string(v[0].Value)))
	case b == '{':
		var list int
		e.buf, list = open(e.buf, anyKVList)
		e.each(v[1:], func(e *encoder, m []record.Node) { e.putMember(listValues, "", m, depth+1) })
		e.buf = shut(e.buf, list)
	case b == '[':
		e.putElements(v[1:], depth)
	case b == 't' || b == 'f':
		e.buf = appendVarint(e.buf, anyBool, protowire.EncodeBool(b == 't'))
	case b != 'n':
		e.buf = appendNumber(e.buf, v[0].Value)
	}
}

// putElements appends the field of an AnyValue with an array.
func (e *encoder) putElements(elements []record.Node, depth int) {
	var list, value int
	e.buf, list = open(e.buf, anyArray)
	for i, next := 0, 0; i < len(elements); i = next {
		next = i + 1 + elements[i].Inner
		e.buf, value = open(e.buf, listValues)
		e.putValue(elements[i:next], depth+1)
		e.buf = shut(e.buf, value)
	}
	e.buf = shut(e.buf, list)
}

// integerOf returns the value of a number, if it is an int64. -0 is not, because it would lose
// its sign.
func integerOf(v record.Value) (i int64, ok bool) {
	i, err := strconv.ParseInt(string(v), 10, 64)
	return i, err == nil && v != "-0"
}

// appendNumber appends the field of an AnyValue with a number. An integer beyond 64 bits and a
// number beyond the range of a float64 become texts: no digit is lost.
func appendNumber(b []byte, v record.Value) []byte {
	if i, ok := integerOf(v); ok {
		return appendVarint(b, anyInt, uint64(i))
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || v != "-0" && !strings.ContainsAny(string(v), ".eE") {
		return appendText(b, anyString, v)
	}
	return appendFixed64(b, anyDouble, math.Float64bits(f))
}
