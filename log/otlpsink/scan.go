package otlpsink

import (
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// maxDepth is the maximum nesting of a line. A line that is nested deeper is not read as
// JSON.
const maxDepth = 1000

// A scanner reads one JSON text from the beginning to the end. It accepts the same texts as
// encoding/json, except those nested deeper than maxDepth. After an error, its methods
// return zero values.
//
// Package log/internal/jsonscan is similar. This module does not use it: a program may
// combine it with another version of module log, whose internal packages may differ.
type scanner struct {
	src    []byte
	at     int  // the offset of the next byte
	failed bool // whether src is not JSON; then at is len(src)
}

func (s *scanner) fail() { s.at, s.failed = len(s.src), true }

// rewind continues at an earlier offset.
func (s *scanner) rewind(at int) {
	if !s.failed {
		s.at = at
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.src) {
		b := s.src[s.at]
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b
		}
		s.at++
	}
	return 0
}

// expect skips a byte, which must be the next one.
func (s *scanner) expect(b byte) {
	if s.peek() == b {
		s.at++
	} else {
		s.fail()
	}
}

// word skips a word, which must be the next one.
func (s *scanner) word(word string) {
	if end := s.at + len(word); end <= len(s.src) && string(s.src[s.at:end]) == word {
		s.at = end
	} else {
		s.fail()
	}
}

// more moves to the next member of an object or array with that closing bracket, and reports
// whether there is one. Otherwise it skips the bracket. first must be true in the first call,
// after the opening bracket; more sets it to false.
func (s *scanner) more(first *bool, closing byte) bool {
	b := s.peek()
	if b == closing {
		s.at++
		return false
	}
	if *first {
		*first = false
		return !s.failed
	}
	s.expect(',')
	if s.peek() == closing {
		s.fail()
	}
	return !s.failed
}

// A quoted is the text between the quotes of a string.
type quoted struct {
	raw     []byte
	escaped bool // whether raw has a backslash
	ascii   bool
}

// str reads a string.
func (s *scanner) str() (q quoted) {
	if s.peek() != '"' {
		s.fail()
		return q
	}
	begin := s.at + 1
	i, high := begin, byte(0)
	for {
		for i+8 <= len(s.src) {
			w := word(s.src[i:])
			special := specials(w)
			if special == 0 {
				if w&tops != 0 {
					high = 0x80
				}
				i += 8
				continue
			}
			for n := bits.TrailingZeros64(special) >> 3; n > 0; n-- {
				high |= s.src[i] & 0x80
				i++
			}
			break
		}
		if i == len(s.src) {
			s.fail()
			return quoted{}
		}
		switch b := s.src[i]; {
		case b == '"':
			s.at = i + 1
			return quoted{s.src[begin:i], q.escaped, high == 0}
		case b == '\\' && escapeLen(s.src[i:]) > 0:
			q.escaped = true
			i += escapeLen(s.src[i:])
		case b < ' ' || b == '\\':
			s.fail()
			return quoted{}
		default:
			high |= b & 0x80
			i++
		}
	}
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// word returns eight bytes, the first as the lowest. The compiler turns this into one load.
func word(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// specials returns a word in which the lowest set bit is the top bit of the first quote,
// backslash or control of w, or 0. Higher bits may be wrong, because a subtraction borrows
// from the bytes after a special one.
func specials(w uint64) uint64 {
	quote, backslash := w^'"'*ones, w^'\\'*ones
	return ((w-' '*ones)&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & tops
}

// escapeLen returns the length of the escape at the beginning of b, or 0 if it is not valid.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hexRune(b); ok {
			return 6
		}
	}
	return 0
}

// hexRune returns the value of an escape such as \u00e9.
func hexRune(b []byte) (c rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, digit := range b[2:6] {
		switch {
		case '0' <= digit && digit <= '9':
			digit -= '0'
		case 'a' <= digit|0x20 && digit|0x20 <= 'f':
			digit = digit | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		c = c<<4 | rune(digit)
	}
	return c, true
}

// value returns the bytes of a string as UTF-8. Like encoding/json, it replaces invalid UTF-8
// and single surrogates by U+FFFD. If it has to, it writes to room, and returns that.
func (q quoted) value(room []byte) (value, newRoom []byte) {
	if !q.escaped && (q.ascii || utf8.Valid(q.raw)) {
		return q.raw, room
	}
	room = room[:0]
	for rest := q.raw; len(rest) > 0; {
		c, n := rune(rest[0]), 1
		switch {
		case c == '\\':
			c, n = unescape(rest)
		case c >= utf8.RuneSelf:
			c, n = utf8.DecodeRune(rest)
		}
		room = utf8.AppendRune(room, c)
		rest = rest[n:]
	}
	return room, room
}

// unescape returns the character of the valid escape at the beginning of b, and the length
// of the escape.
func unescape(b []byte) (c rune, n int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		c, _ = hexRune(b)
		if low, ok := hexRune(b[6:]); 0xd800 <= c && c < 0xdc00 && ok && 0xdc00 <= low && low < 0xe000 {
			return (c-0xd800)<<10 | (low - 0xdc00) + 0x10000, 12
		}
		return c, 6 // AppendRune writes a surrogate as U+FFFD
	}
	return rune(b[1]), 2
}

// A number is the text of a number.
type number struct {
	raw   []byte
	whole bool // whether it has neither a fraction nor an exponent
}

func (s *scanner) number() (n number) {
	s.peek()
	begin := s.at
	s.has('-')
	if !s.has('0') {
		s.digits()
	}
	n.whole = true
	if s.has('.') {
		n.whole = false
		s.digits()
	}
	if s.has('e') || s.has('E') {
		n.whole = false
		if !s.has('+') {
			s.has('-')
		}
		s.digits()
	}
	n.raw = s.src[begin:s.at]
	return n
}

// has skips the next byte if it is b, and reports whether it was.
func (s *scanner) has(b byte) bool {
	if s.at < len(s.src) && s.src[s.at] == b {
		s.at++
		return true
	}
	return false
}

// digits skips digits. There must be at least one.
func (s *scanner) digits() {
	begin := s.at
	for s.at < len(s.src) && '0' <= s.src[s.at] && s.src[s.at] <= '9' {
		s.at++
	}
	if s.at == begin {
		s.fail()
	}
}

// integer returns the value of a number, if it is an int64. -0 is not, because it would lose
// its sign.
func (n number) integer() (i int64, ok bool) {
	if !n.whole || string(n.raw) == "-0" {
		return 0, false
	}
	i, err := strconv.ParseInt(string(n.raw), 10, 64)
	return i, err == nil
}

// ignore skips a value.
func (s *scanner) ignore(depth int) {
	switch s.peek() {
	case '{':
		s.ignoreMembers('}', depth)
	case '[':
		s.ignoreMembers(']', depth)
	case '"':
		s.str()
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.number()
	}
}

func (s *scanner) ignoreMembers(closing byte, depth int) {
	if depth == maxDepth {
		s.fail()
		return
	}
	s.at++
	for first := true; s.more(&first, closing); {
		if closing == '}' {
			s.key()
		}
		s.ignore(depth + 1)
	}
}

// key reads the key of a member and the colon.
func (s *scanner) key() quoted {
	q := s.str()
	s.expect(':')
	return q
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
