package text

import (
	"unsafe"
)

// The Put functions append members of objects to a buffer in place: they take a
// pointer to the slice. That saves a quarter of the time, because the address of
// the buffer is stored, with a write barrier, only when the buffer grows. They
// reserve space first, which saves bounds checks and makes them twice as fast.
// AppendMember with AppendString or AppendInt is the plain equivalent of each;
// it also handles text that needs escapes.

// AppendMember appends the beginning of a member: the separator before it, its
// key and a colon.
func AppendMember(dst []byte, separator byte, key string) []byte {
	return append(AppendString(append(dst, separator), key), ':')
}

// PutMember appends to *b as [AppendMember] does.
func PutMember(b *[]byte, separator byte, key string) {
	size := len(key) + 4
	if !unalignedWords || !writeKey(grow(b, size), separator, key) {
		*b = AppendMember(*b, separator, key)
		return
	}
	*b = (*b)[:len(*b)+size]
}

// PutTextMember appends a member with a string to *b, as [AppendMember] and
// [AppendString] do.
func PutTextMember(b *[]byte, separator byte, key, value string) {
	size := len(key) + len(value) + 6
	to := grow(b, size)
	if !unalignedWords || !writeKey(to, separator, key) {
		*b = AppendString(AppendMember(*b, separator, key), value)
		return
	}
	*(*byte)(unsafe.Add(to, len(key)+4)) = '"'
	if !copyWords(unsafe.Add(to, len(key)+5), value, jsonQuotes) {
		*b = append(appendAny((*b)[:len(*b)+len(key)+5], value, &jsonNotation), '"')
		return
	}
	*(*byte)(unsafe.Add(to, size-1)) = '"'
	*b = (*b)[:len(*b)+size]
}

// PutIntMember appends a member with a number to *b, as [AppendMember] and
// [AppendInt] do.
func PutIntMember(b *[]byte, separator byte, key string, n int64) {
	size := len(key) + 4
	to := grow(b, size+longestInt)
	if !unalignedWords || !writeKey(to, separator, key) {
		*b = AppendInt(AppendMember(*b, separator, key), n)
		return
	}
	digits := writeInt((*[longestInt]byte)(unsafe.Add(to, size)), n)
	*b = (*b)[:len(*b)+size+digits]
}

// PutLabeled appends a label and a JSON string. The label must need no escapes,
// and its last byte is the string's opening quote. Labels shorter than
// leastLabel take a slower path.
func PutLabeled(b *[]byte, label, value string) {
	size := len(label) + len(value) + 1
	if unalignedWords && len(label) >= leastLabel {
		to := grow(b, size)
		copyLabel(to, label)
		plain := copyWords(unsafe.Add(to, len(label)), value, jsonQuotes)
		*(*byte)(unsafe.Add(to, size-1)) = '"'
		if plain {
			*b = (*b)[:len(*b)+size]
			return
		}
	}
	*b = append(appendAny(append(*b, label...), value, &jsonNotation), '"')
}

// PutPair appends a label of LTSV and its value. Labels shorter than leastLabel
// take a slower path.
func PutPair(b *[]byte, label, value string) {
	if unalignedWords && len(label) >= leastLabel {
		size := len(label) + len(value)
		to := grow(b, size+1) // so that the pointer to an empty value is inside the buffer
		copyLabel(to, label)
		if copyWords(unsafe.Add(to, len(label)), value, noQuotes) {
			*b = (*b)[:len(*b)+size]
			return
		}
	}
	*b = appendAny(append(*b, label...), value, &ltsvNotation)
}

// PutLabeledInt appends a label, which must need no escapes, and a number.
// Labels shorter than leastLabel take a slower path.
func PutLabeledInt(b *[]byte, label string, n int64) {
	if !unalignedWords || len(label) < leastLabel {
		*b = AppendInt(append(*b, label...), n)
		return
	}
	to := grow(b, len(label)+longestInt)
	copyLabel(to, label)
	digits := writeInt((*[longestInt]byte)(unsafe.Add(to, len(label))), n)
	*b = (*b)[:len(*b)+len(label)+digits]
}

const leastLabel = 4 // bytes

// copyLabel copies a label of at least four bytes, without escapes.
func copyLabel(to unsafe.Pointer, label string) {
	from, n := unsafe.Pointer(unsafe.StringData(label)), uintptr(len(label))
	if n < 8 {
		store(to, 0, load[uint32](from, 0))
		store(to, n-4, load[uint32](from, n-4))
		return
	}
	for i := uintptr(0); i < n-8; i += 8 {
		store(to, i, load[uint64](from, i))
	}
	store(to, n-8, load[uint64](from, n-8))
}

// writeKey writes the len(key)+4 bytes of [AppendMember]. It reports whether
// the key is plain.
func writeKey(to unsafe.Pointer, separator byte, key string) bool {
	*(*uint16)(to) = uint16(separator) | '"'<<8
	*(*uint16)(unsafe.Add(to, len(key)+2)) = '"' | ':'<<8
	return copyWords(unsafe.Add(to, 2), key, jsonQuotes)
}
