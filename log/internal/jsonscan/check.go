package jsonscan

// MaxDepth is how deep objects and arrays may be nested. Readers recurse, so
// there has to be an end to it, and encoding/json's 10,000 is no use to anyone.
const MaxDepth = 1000

// Check reports whether s is one JSON value, with or without white space around
// it. If not, at is the offset of the first byte that cannot be part of one,
// which is len(s) where something is missing.
//
// It agrees with encoding/json's Valid, nesting deeper than [MaxDepth] apart:
// invalid UTF-8 in a string is taken, a raw control is not.
func Check[T Text](s T) (at int, ok bool) {
	c := checker[T]{s: s}
	if !c.value() {
		return c.at, false
	}
	c.space()
	return c.at, c.at == len(s)
}

// A checker's methods report whether what they are named after begins at at,
// and move behind it; or up to the byte that is wrong.
type checker[T Text] struct {
	s     T
	at    int
	depth int
}

// peek returns the next byte, 0 at the end. A byte 0 is no part of JSON.
func (c *checker[T]) peek() byte {
	if c.at < len(c.s) {
		return c.s[c.at]
	}
	return 0
}

func (c *checker[T]) space() { c.at = skipSpace(c.s, c.at) }

func (c *checker[T]) value() bool {
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

func (c *checker[T]) word(word string) bool {
	for i := range len(word) {
		if c.peek() != word[i] {
			return false
		}
		c.at++
	}
	return true
}

// members checks an object or an array.
func (c *checker[T]) members(closing byte, named bool) bool {
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
func (c *checker[T]) member(named bool) bool {
	if named {
		if c.space(); c.peek() != '"' || !c.text() {
			return false
		}
		if c.space(); !c.word(":") {
			return false
		}
	}
	ok := c.value()
	c.space()
	return ok
}

func (c *checker[T]) text() bool {
	s, i := c.s, c.at+1
	for {
		for i < len(s) && !isSpecial[s[i]] {
			i++
		}
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

// isSpecial tells of which bytes a string cannot simply go on: a quote, a
// backslash and controls.
var isSpecial = func() (table [256]bool) {
	for b := range ' ' {
		table[b] = true
	}
	table['"'], table['\\'] = true, true
	return table
}()

// escape checks what follows a backslash, and moves to the last byte of it.
func (c *checker[T]) escape() bool {
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

func (c *checker[T]) number() bool {
	if c.peek() == '-' {
		c.at++
	}
	if c.peek() == '0' {
		c.at++
	} else if !c.digits() {
		return false
	}
	if c.peek() == '.' {
		if c.at++; !c.digits() {
			return false
		}
	}
	if c.peek()|0x20 != 'e' {
		return true
	}
	if c.at++; c.peek() == '+' || c.peek() == '-' {
		c.at++
	}
	return c.digits()
}

// digits checks one digit or more.
func (c *checker[T]) digits() bool {
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
