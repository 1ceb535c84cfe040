// Package jsonscan walks through JSON text without building anything: what it
// returns are pieces of the text. Readers of events use it, since encoding/json
// keeps neither the order of keys nor the notation of numbers, and takes a
// multiple of the time.
//
// [Check] tells whether a text is JSON. Everything else expects text that is,
// and on other text returns nonsense, but neither panics nor loops.
package jsonscan

// Text is JSON text: a document, a value or a piece of one.
type Text interface{ ~string | ~[]byte }

// A Scanner walks through JSON text. Its use for an object is
//
//	s.Enter()
//	for {
//		key, ok := s.Member()
//		if !ok {
//			break
//		}
//		... s.Value() ...
//	}
//
// and for an array the same with [Scanner.Element].
type Scanner[T Text] struct {
	text T
	at   int
}

// Scan returns a Scanner that stands before text.
func Scan[T Text](text T) Scanner[T] { return Scanner[T]{text: text} }

// Peek returns the byte that the next value begins with: one of {["tfn, a
// minus or a digit; 0 at the end of the text.
func (s *Scanner[T]) Peek() byte {
	s.at = skipSpace(s.text, s.at)
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// Enter steps over the bracket that an object or an array begins with.
func (s *Scanner[T]) Enter() {
	s.Peek()
	s.at = min(s.at+1, len(s.text))
}

// Member steps to the next value of an object and returns its key as it stands
// there, in quotes; or it steps over the closing bracket and reports false.
func (s *Scanner[T]) Member() (key T, ok bool) {
	if !s.Element() {
		return key, false
	}
	key = s.Value()
	if s.Peek() == ':' {
		s.at++
	}
	return key, true
}

// Element steps to the next value of an array, or over the closing bracket and
// reports false.
func (s *Scanner[T]) Element() bool {
	switch s.Peek() {
	case ',':
		s.at++
		return true
	case ']', '}':
		s.at++
		return false
	}
	return s.at < len(s.text)
}

// Value returns the text of the value, and steps over it.
func (s *Scanner[T]) Value() T {
	s.Peek()
	from := s.at
	s.at = valueEnd(s.text, from)
	return s.text[from:s.at]
}

// valueEnd returns where the value ends that begins at from.
func valueEnd[T Text](text T, from int) int {
	if from == len(text) {
		return from
	}
	switch text[from] {
	case '"':
		return stringEnd(text, from)
	case '{', '[':
		return bracketsEnd(text, from)
	}
	return wordEnd(text, from)
}

// bracketsEnd returns where the object or array ends that begins at from.
func bracketsEnd[T Text](text T, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// stringEnd returns where the string ends that begins at from.
func stringEnd[T Text](text T, from int) int {
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(text)
}

// wordEnd returns where a number, true, false or null ends that begins at
// from. It is at least one byte long.
func wordEnd[T Text](text T, from int) int {
	for i := from + 1; i < len(text); i++ {
		if b := text[i]; b == ',' || b == '}' || b == ']' || isSpace(b) {
			return i
		}
	}
	return len(text)
}
