package jsonscan

import "math/bits"

// MaxDepth is the maximum nesting of objects and arrays. Readers are recursive,
// so there must be a limit; the 10,000 of encoding/json are more than anyone
// needs.
const MaxDepth = 1000

// Check reports whether s is one JSON value, with or without white space around
// it. If not, at is the offset of the first byte that cannot be part of one, or
// len(s) if something is missing.
//
// It agrees with encoding/json's Valid, except for values nested deeper than
// [MaxDepth]: it accepts invalid UTF-8 in a string, but no unescaped control
// characters.
func Check(s string) (at int, ok bool) {
	c := checker{s: s}
	if !c.value() {
		return c.at, false
	}
	c.space()
	return c.at, c.at == len(s)
}

// Members checks an object and returns its members one by one.
type Members struct {
	c      checker
	closed bool
}

// MembersOf returns the Members of an object with or without white space around
// it.
func MembersOf(object string) Members { return Members{c: checker{s: object}} }

// Next returns the quoted key of the next member, and the value. It returns
// false after the last member and at an error; see [Members.End].
func (m *Members) Next() (key, value string, ok bool) {
	c := &m.c
	c.space()
	first := c.depth == 0
	if first {
		if !c.word("{") {
			return "", "", false
		}
		c.depth++
		c.space()
	}
	if c.peek() == '}' {
		c.at++
		m.closed = true
		return "", "", false
	}
	if !first && !c.word(",") {
		return "", "", false
	}
	if key, ok = c.key(); !ok {
		return "", "", false
	}
	c.space()
	from := c.at
	if !c.value() {
		return "", "", false
	}
	return key, c.s[from:c.at], true
}

// End reports whether the object was valid JSON, after Next has returned false.
// If not, at is as in [Check].
func (m *Members) End() (at int, ok bool) {
	if m.closed {
		m.c.space()
	}
	return m.c.at, m.closed && m.c.at == len(m.c.s)
}

// A checker checks JSON from the offset at. Each method reports whether the
// text continues with the construct in the method's name. Afterwards, at is the
// offset after the construct, or the offset of the invalid byte.
type checker struct {
	s     string
	at    int
	depth int
}

// peek returns the next byte, or 0 at the end. A byte 0 is not valid in JSON.
func (c *checker) peek() byte {
	if c.at < len(c.s) {
		return c.s[c.at]
	}
	return 0
}

func (c *checker) space() { c.at = skipSpace(c.s, c.at) }

func (c *checker) value() bool {
	c.space()
	switch b := c.peek(); b {
	case '{':
		return c.members('}', true)
	case '[':
		return c.members(']', false)
	case '"':
		return c.text()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

func (c *checker) word(word string) bool {
	for i := range len(word) {
		if c.peek() != word[i] {
			return false
		}
		c.at++
	}
	return true
}

// members checks an object or an array.
func (c *checker) members(closing byte, named bool) bool {
	if c.depth == MaxDepth {
		return false
	}
	c.depth++
	c.at++
	c.space()
	for first := true; c.peek() != closing || !first; first = false {
		if !c.member(named) {
			return false
		}
		if c.peek() == closing {
			break
		}
		if !c.word(",") {
			return false
		}
	}
	c.depth--
	c.at++
	return true
}

// member checks a member and the white space around it.
func (c *checker) member(named bool) bool {
	if named {
		if _, ok := c.key(); !ok {
			return false
		}
	}
	if !c.value() {
		return false
	}
	c.space()
	return true
}

// key checks a key and its colon, and returns the quoted key.
func (c *checker) key() (quoted string, ok bool) {
	c.space()
	from := c.at
	if c.peek() != '"' || !c.text() {
		return "", false
	}
	quoted = c.s[from:c.at]
	c.space()
	return quoted, c.word(":")
}

func (c *checker) text() bool {
	s, i := c.s, c.at+1
	for {
		i = plainEnd(s, i)
		c.at = i
		if i == len(s) || s[i] < ' ' {
			return false
		}
		if s[i] == '"' {
			c.at++
			return true
		}
		if c.at++; !c.escape() {
			return false
		}
		i = c.at + 1
	}
}

// plainEnd returns the offset of the first special byte of s at or after at, or
// len(s).
func plainEnd(s string, at int) int {
	for ; at+8 <= len(s); at += 8 {
		if m := specials(word(s[at : at+8])); m != 0 {
			return at + bits.TrailingZeros64(m)>>3
		}
	}
	for at < len(s) && !isSpecial[s[at]] {
		at++
	}
	return at
}

// word returns eight bytes, the first as the lowest. The compiler turns this
// into one load.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// specials returns a word in which the lowest set bit is the top bit of the
// first special byte of w, or 0. Higher bits may be wrong, because a
// subtraction borrows from the bytes after a special one.
func specials(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^'"'*ones, w^'\\'*ones
	return ((w-' '*ones)&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & tops
}

// isSpecial marks the bytes that do not simply continue a string: quote,
// backslash and controls.
var isSpecial = func() (table [256]bool) {
	for b := range ' ' {
		table[b] = true
	}
	table['"'], table['\\'] = true, true
	return table
}()

// escape checks the text after a backslash, and moves to its last byte.
func (c *checker) escape() bool {
	switch c.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			if c.at++; !isHex(c.peek()) {
				return false
			}
		}
		return true
	}
	return false
}

func (c *checker) number() bool {
	if c.peek() == '-' {
		c.at++
	}
	if c.peek() == '0' {
		c.at++
	} else if !c.skipDigits() {
		return false
	}
	if c.peek() == '.' {
		if c.at++; !c.skipDigits() {
			return false
		}
	}
	if c.peek()|0x20 != 'e' {
		return true
	}
	if c.at++; c.peek() == '+' || c.peek() == '-' {
		c.at++
	}
	return c.skipDigits()
}

// skipDigits skips digits and reports whether there was at least one.
func (c *checker) skipDigits() bool {
	from := c.at
	for isDigit(c.peek()) {
		c.at++
	}
	return c.at > from
}

func skipSpace[T Text](s T, at int) int {
	for at < len(s) && isSpace(s[at]) {
		at++
	}
	return at
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isHex(b byte) bool   { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }
