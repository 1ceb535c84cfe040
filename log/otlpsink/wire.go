package otlpsink

import (
	"encoding/binary"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of fields in opentelemetry/proto/logs/v1/logs.proto, collector/logs/v1,
// common/v1 and resource/v1.
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

// putText appends a field with a text.
func putText[T bytesOf](b []byte, field protowire.Number, text T) []byte {
	return append(putLength(b, field, len(text)), text...)
}

func putFixed64(b []byte, field protowire.Number, value uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, tag(field, protowire.Fixed64Type)), value)
}

func putVarint(b []byte, field protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(append(b, tag(field, protowire.VarintType)), value)
}

// tag returns the tag of a field. All fields here have numbers below 16, whose tag has one
// byte.
func tag(field protowire.Number, kind protowire.Type) byte { return byte(field)<<3 | byte(kind) }

// putLength appends the beginning of a field that is a text or a message of size bytes.
func putLength(b []byte, field protowire.Number, size int) []byte {
	if size < 0x80 {
		return append(b, tag(field, protowire.BytesType), byte(size))
	}
	return protowire.AppendVarint(append(b, tag(field, protowire.BytesType)), uint64(size))
}

// textSize returns the size of a field with a text of n bytes.
func textSize(n int) int { return 1 + protowire.SizeBytes(n) }

// putTextValue appends a field that is an AnyValue with a text.
func putTextValue[T bytesOf](b []byte, field protowire.Number, text T) []byte {
	return putText(putLength(b, field, textSize(len(text))), anyString, text)
}

// putPair appends the beginning of a field that is a KeyValue, up to and including the length
// of its value, which has size bytes.
func putPair[K bytesOf](b []byte, field protowire.Number, key K, size int) []byte {
	b = putLength(b, field, textSize(len(key))+textSize(size))
	b = putText(b, keyValueKey, key)
	return putLength(b, keyValueValue, size)
}

// putTextPair appends a field that is a KeyValue with a text.
func putTextPair[K, T bytesOf](b []byte, field protowire.Number, key K, text T) []byte {
	b = putPair(b, field, key, textSize(len(text)))
	return putText(b, anyString, text)
}

// open appends the beginning of a message whose length is not known, and returns the offset
// of its content, for shut.
func open(b []byte, field protowire.Number) (longer []byte, content int) {
	b = append(b, tag(field, protowire.BytesType), 0)
	return b, len(b)
}

// shut completes the message whose content begins at that offset and ends with b. If its
// length takes more than one byte, the content moves.
func shut(b []byte, content int) []byte {
	size := uint64(len(b) - content)
	more := protowire.SizeVarint(size) - 1
	if more > 0 {
		var room [10]byte
		b = append(b, room[:more]...)
		copy(b[content+more:], b[content:len(b)-more])
	}
	protowire.AppendVarint(b[:content-1], size)
	return b
}

// longLength is the size of a length that openLong reserves. It suffices for 32 GiB.
const longLength = 5

// openLong is open for a long message, which must not move.
func openLong(b []byte, field protowire.Number) (longer []byte, content int) {
	b = append(b, tag(field, protowire.BytesType), 0, 0, 0, 0, 0)
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

// putNumber appends an AnyValue with a number. An integer beyond 64 bits and a number beyond
// the range of a float64 become texts: no digit is lost.
func putNumber(b []byte, n number) []byte {
	if i, ok := n.integer(); ok {
		return putVarint(b, anyInt, uint64(i))
	}
	f, err := strconv.ParseFloat(string(n.raw), 64)
	if err != nil || n.whole && string(n.raw) != "-0" {
		return putText(b, anyString, n.raw)
	}
	return putFixed64(b, anyDouble, math.Float64bits(f))
}
