package ltsv

import "github.com/weirhq/weir/log/internal/jsonscan"

// MaxPath is how long the keys that lead to an object may be for its members
// to become pairs; in a longer case, it is its JSON text, as an array is. As
// each pair repeats the keys, a line that somebody made for the purpose would
// otherwise grow with the square of its length.
const MaxPath = 128

// A key and its value are collected in rooms on the stack; longer ones pay for
// an allocation.
const scratchSize = 256

// AppendJSON appends the pairs, each behind a tab, that a field becomes, of
// which key is the key and json the value: JSON text, which must be valid. The
// members of an object become pairs of their own; see [AppendLabel].
func AppendJSON[T jsonscan.Text](dst []byte, key string, json T) []byte {
	var scratch [scratchSize]byte
	f := flattener[T]{dst: dst, json: jsonscan.Scan(json)}
	f.value(append(scratch[:0], key...))
	return f.dst
}

// AppendFields appends the pairs, each behind a tab, that the members of an
// object become: JSON text, which must be valid. None is for one without
// members.
func AppendFields[T jsonscan.Text](dst []byte, object T) []byte {
	var scratch [scratchSize]byte
	f := flattener[T]{dst: dst, json: jsonscan.Scan(object)}
	f.members(scratch[:0])
	return f.dst
}

// A flattener appends the pairs of one field. A path is the key of a value
// after those that lead to it, each with a dot behind it. It is an argument
// since a slice in here would make its room escape to the heap.
type flattener[T jsonscan.Text] struct {
	dst  []byte
	json jsonscan.Scanner[T]
}

// value appends the pairs of the value that json stands before.
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

// members appends the pairs of the members of an object, and returns how many
// members there are.
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

// string appends the value of a string as it stands with its quotes.
func (f *flattener[T]) string(quoted T) {
	if jsonscan.IsPlain(quoted) {
		f.dst = AppendValue(f.dst, quoted[1:len(quoted)-1])
		return
	}
	var scratch [scratchSize]byte
	f.dst = AppendValue(f.dst, jsonscan.AppendUnquoted(scratch[:0], quoted))
}
