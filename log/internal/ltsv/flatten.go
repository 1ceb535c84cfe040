package ltsv

import "github.com/weirhq/weir/log/internal/jsonscan"

// MaxPath is the maximum length of the keys of an object, joined by dots, for
// its members to become pairs. Beyond it, the object becomes JSON text, like an
// array. Each pair repeats the keys, so without this limit a malicious line
// could grow with the square of its length.
const MaxPath = 128

// The size of the arrays on the stack that hold a key or a value. Longer ones
// are allocated.
const scratchSize = 256

// AppendJSON appends the pairs of a field, each after a tab. json is the JSON
// text of its value and must be valid. The members of an object become pairs of
// their own; see [AppendLabel].
func AppendJSON[T jsonscan.Text](dst []byte, key string, json T) []byte {
	var scratch [scratchSize]byte
	f := flattener[T]{dst: dst, json: jsonscan.Scan(json)}
	f.value(append(scratch[:0], key...))
	return f.dst
}

// AppendFields appends the pairs of the members of an object, each after a tab.
// object is JSON text and must be valid. An object without members has no
// pairs.
func AppendFields[T jsonscan.Text](dst []byte, object T) []byte {
	var scratch [scratchSize]byte
	f := flattener[T]{dst: dst, json: jsonscan.Scan(object)}
	f.members(scratch[:0])
	return f.dst
}

// A flattener appends the pairs of one field. The path of a value is the keys
// that lead to it, joined by dots. Methods take it as an argument, because a
// slice in the struct would make its array escape to the heap.
type flattener[T jsonscan.Text] struct {
	dst  []byte
	json jsonscan.Scanner[T]
}

// value appends the pairs of the next value of json.
func (f *flattener[T]) value(path []byte) {
	switch b := f.json.Peek(); {
	case b == '{' && len(path) <= MaxPath:
		if f.members(append(path, '.')) == 0 {
			f.label(path)
			f.dst = append(f.dst, "{}"...)
		}
	case b == '{' || b == '[':
		f.label(path)
		f.dst = AppendValue(f.dst, f.json.Value())
	case b == '"':
		f.label(path)
		f.string(f.json.Value())
	default:
		f.label(path)
		f.dst = append(f.dst, f.json.Value()...)
	}
}

// members appends the pairs of the members of an object, and returns the number
// of members.
func (f *flattener[T]) members(prefix []byte) (n int) {
	f.json.Enter()
	for ; ; n++ {
		key, ok := f.json.Member()
		if !ok {
			return n
		}
		f.value(jsonscan.AppendUnquoted(prefix, key))
	}
}

func (f *flattener[T]) label(path []byte) {
	f.dst = append(f.dst, '\t')
	mark := len(f.dst)
	f.dst = finishLabel(appendSafe(f.dst, path), mark)
	f.dst = append(f.dst, ':')
}

// string appends the value of a quoted string.
func (f *flattener[T]) string(quoted T) {
	if jsonscan.IsPlain(quoted) {
		f.dst = AppendValue(f.dst, quoted[1:len(quoted)-1])
		return
	}
	var scratch [scratchSize]byte
	f.dst = AppendValue(f.dst, jsonscan.AppendUnquoted(scratch[:0], quoted))
}
