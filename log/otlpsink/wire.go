package otlpsink

import "google.golang.org/protobuf/encoding/protowire"

// The numbers of fields in opentelemetry/proto/logs/v1/logs.proto, trace/v1/trace.proto, collector/logs/v1,
// common/v1 and resource/v1. The messages around the spans have the same as those around the records of logs.
const (
	requestResourceLogs = 1

	resourceLogsResource  = 1
	resourceLogsScopeLogs = 2
	resourceAttributes    = 1

	scopeLogsScope   = 1
	scopeLogsRecords = 2
	scopeName        = 1

	recordTime           = 1
	recordSeverityNumber = 2
	recordSeverityText   = 3
	recordBody           = 5
	recordAttributes     = 6
	recordTraceID        = 9
	recordSpanID         = 10
	recordObservedTime   = 11
	recordEventName      = 12

	spanTraceID    = 1
	spanSpanID     = 2
	spanParent     = 4
	spanName       = 5
	spanKind       = 6
	spanStart      = 7
	spanEnd        = 8
	spanAttributes = 9
	spanStatus     = 15
	spanFlags      = 16

	statusMessageField = 2
	statusCode         = 3

	keyValueKey   = 1
	keyValueValue = 2

	anyString = 1
	anyBool   = 2
	anyInt    = 3
	anyDouble = 4
	anyArray  = 5
	anyKVList = 6

	listValues = 1 // of an ArrayValue and of a KeyValueList
)

// bytesOf is a text in memory.
type bytesOf interface{ ~string | ~[]byte }

// tag returns the tag of a field that is a text or a message. All of these here have numbers below
// 16, whose tag has one byte.
func tag(field protowire.Number) byte { return byte(field)<<3 | byte(protowire.BytesType) }

// appendLength appends the beginning of a field that is a text or a message of size bytes.
func appendLength(b []byte, field protowire.Number, size int) []byte {
	return protowire.AppendVarint(append(b, tag(field)), uint64(size))
}

// appendText appends a field that is a text or a message.
func appendText[T bytesOf](b []byte, field protowire.Number, text T) []byte {
	return append(appendLength(b, field, len(text)), text...)
}

func appendVarint(b []byte, field protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), value)
}

func appendFixed64(b []byte, field protowire.Number, value uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), value)
}

// textSize returns the size of a field with a text of n bytes.
func textSize(n int) int { return 1 + protowire.SizeBytes(n) }

// appendTextValue appends a field that is an AnyValue with a text.
func appendTextValue[T bytesOf](b []byte, field protowire.Number, text T) []byte {
	return appendText(appendLength(b, field, textSize(len(text))), anyString, text)
}

// appendTextPair appends a field that is a KeyValue with a text. Its key is prefix and key.
func appendTextPair[T bytesOf](b []byte, field protowire.Number, prefix, key string, text T) []byte {
	if n := len(prefix) + len(key); n+len(text) < 0x80-6 { // all lengths have one byte: the usual case, a third faster
		b = append(b, tag(field), byte(n+len(text)+6), tag(keyValueKey), byte(n))
		b = append(append(b, prefix...), key...)
		b = append(b, tag(keyValueValue), byte(len(text)+2), tag(anyString), byte(len(text)))
		return append(b, text...)
	}
	value := textSize(textSize(len(text)))
	b = appendLength(b, field, textSize(len(prefix)+len(key))+value)
	b = appendKey(b, prefix, key)
	return appendTextValue(b, keyValueValue, text)
}

// appendIntPair is appendTextPair for an integer.
func appendIntPair(b []byte, field protowire.Number, key string, i int64) []byte {
	value := 1 + protowire.SizeVarint(uint64(i))
	b = appendLength(b, field, textSize(len(key))+textSize(value))
	b = appendText(b, keyValueKey, key)
	return appendVarint(appendLength(b, keyValueValue, value), anyInt, uint64(i))
}

// appendKey appends the key of a KeyValue.
func appendKey(b []byte, prefix, key string) []byte {
	b = appendLength(b, keyValueKey, len(prefix)+len(key))
	return append(append(b, prefix...), key...)
}

// open appends the beginning of a message whose length is not known, and returns the offset
// of its content, for shut.
func open(b []byte, field protowire.Number) (longer []byte, content int) {
	b = appendLength(b, field, 0)
	return b, len(b)
}

// shut completes the message whose content begins at that offset and ends with b. If its
// length takes more than one byte, the content moves.
func shut(b []byte, content int) []byte {
	size := uint64(len(b) - content)
	if more := protowire.SizeVarint(size) - 1; more > 0 {
		var room [10]byte
		b = append(b, room[:more]...)
		copy(b[content+more:], b[content:])
	}
	protowire.AppendVarint(b[:content-1], size)
	return b
}

// longLength is the size of a length that openLong reserves. It suffices for 32 GiB.
const longLength = 5

// openLong is open for a long message, which must not move.
func openLong(b []byte, field protowire.Number) (longer []byte, content int) {
	b = append(b, tag(field), 0, 0, 0, 0, 0)
	return b, len(b)
}

// shutLong completes the message of openLong. A length may have more bytes than it needs.
func shutLong(b []byte, content int) {
	size := uint64(len(b) - content)
	for i := content - longLength; i < content-1; i++ {
		b[i] = byte(size) | 0x80
		size >>= 7
	}
	b[content-1] = byte(size)
}
