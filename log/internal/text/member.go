package text

import (
	"slices"
	"unsafe"
)

// The functions of this file append the members of objects to a buffer in
// place. That makes a difference of a quarter, since the address of the buffer
// is stored, and the garbage collector asked, only where the buffer grows;
// without the tests of bounds that the room which they make spares them it is
// half. AppendMember with AppendString or AppendInt is the plain twin of each,
// which does the work for what is not plain.

// AppendMember appends what a member of an object begins with: the byte that
// separates it from what stands before, its key and a colon.
func AppendMember(dst []byte, separator byte, key string) []byte {
	return append(AppendString(append(dst, separator), key), ':')
}

// PutMember appends what [AppendMember] appends.
func PutMember(b *[]byte, separator byte, key string) {
	size := len(key) + 4
	if !wordsAnywhere || !writeKey(makeRoom(b, size), separator, key) {
		*b = AppendMember(*b, separator, key)
		return
	}
	*b = (*b)[:len(*b)+size]
}

// PutTextMember appends a member whose value is a string: what [AppendMember]
// and then [AppendString] append.
func PutTextMember(b *[]byte, separator byte, key, value string) {
	size := len(key) + len(value) + 6
	room := makeRoom(b, size)
	if !wordsAnywhere || !writeKey(room, separator, key) {
		*b = AppendString(AppendMember(*b, separator, key), value)
		return
	}
	*(*byte)(unsafe.Add(room, len(key)+4)) = '"'
	if !copyWords(unsafe.Add(room, len(key)+5), value, jsonQuotes) {
		*b = append(appendAny((*b)[:len(*b)+len(key)+5], value, &jsonNotation), '"')
		return
	}
	*(*byte)(unsafe.Add(room, size-1)) = '"'
	*b = (*b)[:len(*b)+size]
}

// PutIntMember appends a member whose value is a number: what [AppendMember]
// and then [AppendInt] append.
func PutIntMember(b *[]byte, separator byte, key string, n int64) {
	size := len(key) + 4
	room := makeRoom(b, size+longestInt)
	if !wordsAnywhere || !writeKey(room, separator, key) {
		*b = AppendInt(AppendMember(*b, separator, key), n)
		return
	}
	digits := writeInt((*[longestInt]byte)(unsafe.Add(room, size)), n)
	*b = (*b)[:len(*b)+size+digits]
}

// PutLabeled appends a label, which holds nothing to escape, and a JSON string
// without its first quote, which is the label's last byte. Labels below
// leastLabel take longer.
func PutLabeled(b *[]byte, label, value string) {
	size := len(label) + len(value) + 1
	if wordsAnywhere && len(label) >= leastLabel {
		room := makeRoom(b, size)
		copyLabel(room, label)
		plain := copyWords(unsafe.Add(room, len(label)), value, jsonQuotes)
		*(*byte)(unsafe.Add(room, size-1)) = '"'
		if plain {
			*b = (*b)[:len(*b)+size]
			return
		}
	}
	*b = append(appendAny(append(*b, label...), value, &jsonNotation), '"')
}

// PutPair appends a label of LTSV and its value. Labels below leastLabel take
// longer.
func PutPair(b *[]byte, label, value string) {
	if wordsAnywhere && len(label) >= leastLabel {
		size := len(label) + len(value)
		room := makeRoom(b, size+1) // an empty value, too, is to begin inside of it
		copyLabel(room, label)
		if copyWords(unsafe.Add(room, len(label)), value, noQuotes) {
			*b = (*b)[:len(*b)+size]
			return
		}
	}
	*b = appendAny(append(*b, label...), value, &ltsvNotation)
}

// PutLabeledInt appends a label, which holds nothing to escape, and a number.
// Labels below leastLabel take longer.
func PutLabeledInt(b *[]byte, label string, n int64) {
	if !wordsAnywhere || len(label) < leastLabel {
		*b = AppendInt(append(*b, label...), n)
		return
	}
	room := makeRoom(b, len(label)+longestInt)
	copyLabel(room, label)
	digits := writeInt((*[longestInt]byte)(unsafe.Add(room, len(label))), n)
	*b = (*b)[:len(*b)+len(label)+digits]
}

const leastLabel = 4 // bytes

// copyLabel copies four bytes or more, whatever they are.
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

// makeRoom returns where the next bytes of b go, of which there is room for as
// many as asked for: at least one, since a pointer has to point into something.
func makeRoom(b *[]byte, size int) unsafe.Pointer {
	if cap(*b)-len(*b) < size { // as reserve has it; called here, it costs 4% of an event with ten fields
		*b = slices.Grow(*b, size)
	}
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(*b)), len(*b))
}

// reserve sees to it that b has room for so many more bytes.
func reserve(b *[]byte, size int) {
	if cap(*b)-len(*b) < size {
		*b = slices.Grow(*b, size)
	}
}

// writeKey writes what [AppendMember] appends, len(key)+4 bytes, and reports
// whether the key is plain.
func writeKey(to unsafe.Pointer, separator byte, key string) bool {
	*(*uint16)(to) = uint16(separator) | '"'<<8
	*(*uint16)(unsafe.Add(to, len(key)+2)) = '"' | ':'<<8
	return copyWords(unsafe.Add(to, 2), key, jsonQuotes)
}
