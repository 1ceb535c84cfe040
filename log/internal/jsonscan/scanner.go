// Package jsonscan reads JSON text without decoding it: it returns parts of the
// text. Readers of events use it, because encoding/json keeps neither the order
// of keys nor the notation of numbers, and takes several times as long.
//
// Its functions expect valid JSON. For other text they return meaningless
// results, but neither panic nor loop.
package jsonscan

// Text is JSON text: a document, a value or a part of one.
type Text interface{ ~string | ~[]byte }

// A Scanner reads JSON text from its beginning. Use it for an object as
// follows,
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
// and for an array in the same way with [Scanner.Element].
type Scanner[T Text] struct {
	text T
	at   int
}

// Scan returns a Scanner at the beginning of text.
func Scan[T Text](text T) Scanner[T] { return Scanner[T]{text: text} }

// Peek returns the first byte of the next value: one of {["tfn, a minus or a
// digit; 0 at the end of the text.
func (s *Scanner[T]) Peek() byte {
	s.at = skipSpace(s.text, s.at)
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// Enter skips the opening bracket of an object or array.
func (s *Scanner[T]) Enter() {
	s.Peek()
	s.at = min(s.at+1, len(s.text))
}

// Member moves to the next value of an object and returns its quoted key. At
// the end of the object it skips the closing bracket and returns false.
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

// Element moves to the next value of an array. At the end of the array it skips
// the closing bracket and returns false.
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

// Value returns the text of the value, and skips it.
func (s *Scanner[T]) Value() T {
	s.Peek()
	from := s.at
	s.at = valueEnd(s.text, from)
	return s.text[from:s.at]
}

// valueEnd returns the end of the value that begins at from.
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

// bracketsEnd returns the end of the object or array that begins at from.
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

// stringEnd returns the end of the string that begins at from.
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

// wordEnd returns the end of the number, true, false or null that begins at
// from. Its length is at least one byte.
func wordEnd[T Text](text T, from int) int {
	for i := from + 1; i < len(text); i++ {
		if b := text[i]; b == ',' || b == '}' || b == ']' || isSpace(b) {
			return i
		}
	}
	return len(text)
}

func skipSpace[T Text](s T, at int) int {
	for at < len(s) && isSpace(s[at]) {
		at++
	}
	return at
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
