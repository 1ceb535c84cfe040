package record

import (
	"fmt"
	"math/bits"
)

// maxDepth is the maximum nesting of objects and arrays. Readers are recursive,
// so there must be a limit; the 10,000 of encoding/json are more than anyone
// needs.
const maxDepth = 1000

// A Node is a member of an object or an element of an array.
type Node struct {
	Key   string // empty for an element
	Value Value  // as in the line, canonical or not
	Inner int    // the number of Nodes after this one that are within it

	plain bool // Value is a string of ASCII without escapes
}

// Text returns the text of a string, or false for any other value.
func (n *Node) Text() (text string, ok bool) {
	switch {
	case n.plain:
		return string(n.Value[1 : len(n.Value)-1]), true
	case n.Value.isString():
		return unquote(string(n.Value)), true
	}
	return "", false
}

func (n *Node) field() Field { return Field{n.Key, valueOf(string(n.Value))} }

func (n *Node) isObject() bool { return n.Value[0] == '{' }
func (n *Node) isArray() bool  { return n.Value[0] == '[' }

// Fields returns the members of an object, or nil for any other value.
func (v Value) Fields() []Field {
	nodes, _ := appendNodes(nil, string(v)) // none if it is another value
	return appendFields(nil, nodes)
}

// appendFields appends the members of an object.
func appendFields(fields []Field, members []Node) []Field {
	for i := 0; i < len(members); i += 1 + members[i].Inner {
		fields = append(fields, members[i].field())
	}
	return fields
}

// appendNodes appends the Nodes of a JSON object: each member, and after it the
// Nodes within it. It accepts the objects that encoding/json accepts, unless they
// are nested deeper than maxDepth.
func appendNodes(nodes []Node, object string) ([]Node, error) {
	c := checker{s: object, nodes: nodes}
	c.space()
	ok := c.peek() == '{' && c.members('}')
	if ok {
		c.space()
	}
	if !ok || c.at < len(c.s) {
		return nodes[:0], fmt.Errorf("no JSON from byte %d on", c.at)
	}
	return c.nodes, nil
}

// validArray reports whether s, which begins with a bracket, is a JSON array
// without white space around it.
func validArray(s string) bool {
	c := checker{s: s}
	return c.members(']') && c.at == len(s)
}

func validNumber(s string) bool {
	c := checker{s: s}
	return c.number() && c.at == len(s)
}

// A checker checks JSON from the offset at, and appends its Nodes. Each method
// reports whether the text continues with the construct in the method's name.
// Afterwards, at is the offset after the construct, or the offset of the invalid
// byte.
type checker struct {
	s     string
	at    int
	depth int
	nodes []Node
}

// peek returns the next byte, or 0 at the end. A byte 0 is not valid in JSON.
func (c *checker) peek() byte {
	if c.at < len(c.s) {
		return c.s[c.at]
	}
	return 0
}

// has skips a byte, if it is the next one.
func (c *checker) has(b byte) bool {
	if c.at < len(c.s) && c.s[c.at] == b {
		c.at++
		return true
	}
	return false
}

// space skips white space, of which there is mostly none.
func (c *checker) space() {
	for c.at < len(c.s) && c.s[c.at] <= ' ' && isSpace(c.s[c.at]) {
		c.at++
	}
}

// value appends a Node with its value, and the Nodes within it.
func (c *checker) value(key string) bool {
	place, from := len(c.nodes), c.at
	b := c.peek()
	if b == '{' || b == '[' {
		c.nodes = append(c.nodes, Node{Key: key})
		ok := c.members(b + 2) // the closing bracket
		c.nodes[place].Value, c.nodes[place].Inner = Value(c.s[from:c.at]), len(c.nodes)-place-1
		return ok
	}
	var ok, plain bool
	switch b {
	case '"':
		plain, ok = c.text()
	case 't':
		ok = c.word("true")
	case 'f':
		ok = c.word("false")
	case 'n':
		ok = c.word("null")
	default:
		ok = c.number()
	}
	c.nodes = append(c.nodes, Node{key, Value(c.s[from:c.at]), 0, plain})
	return ok
}

func (c *checker) word(word string) bool {
	for i := range len(word) {
		if !c.has(word[i]) {
			return false
		}
	}
	return true
}

// members checks an object or array with that closing bracket.
func (c *checker) members(closing byte) bool {
	if c.depth == maxDepth {
		return false
	}
	c.depth++
	c.at++
	c.space()
	for first := true; !first || !c.has(closing); first = false {
		if !c.member(closing == '}') {
			return false
		}
		if c.has(closing) {
			break
		}
		if !c.has(',') {
			return false
		}
		c.space()
	}
	c.depth--
	return true
}

// member checks a member, or an element if it has no key, and the white space
// after it.
func (c *checker) member(hasKey bool) bool {
	key := ""
	if hasKey {
		var ok bool
		if key, ok = c.key(); !ok {
			return false
		}
		c.space()
	}
	if !c.value(key) {
		return false
	}
	c.space()
	return true
}

// key checks a key and its colon, and returns the key.
func (c *checker) key() (key string, ok bool) {
	from := c.at
	if c.peek() != '"' {
		return "", false
	}
	plain, ok := c.text()
	if !ok {
		return "", false
	}
	if key = c.s[from:c.at]; plain {
		key = key[1 : len(key)-1]
	} else {
		key = unquote(key)
	}
	c.space()
	return key, c.has(':')
}

// text checks a string, and reports whether it is ASCII without escapes.
func (c *checker) text() (plain, ok bool) {
	plain = true
	for i := c.at + 1; ; i = c.at + 1 {
		end, ascii := plainEnd(c.s, i)
		plain = plain && ascii
		c.at = end
		switch b := c.peek(); {
		case b == '"':
			c.at++
			return plain, true
		case b != '\\':
			return false, false
		}
		c.at++
		plain = false
		if !c.escape() {
			return false, false
		}
	}
}

// plainEnd returns the offset of the first special byte of s at or after at, or
// len(s), and whether the bytes before it are ASCII. Quotes, backslashes and
// controls are special.
func plainEnd(s string, at int) (end int, ascii bool) {
	var high uint64
	for ; at+8 <= len(s); at += 8 {
		w := word(s[at : at+8])
		if m := specials(w); m != 0 {
			before := m&-m>>7 - 1
			return at + bits.TrailingZeros64(m)>>3, (high|w&before)&tops == 0
		}
		high |= w
	}
	for ; at < len(s) && s[at] != '"' && s[at] != '\\' && s[at] >= ' '; at++ {
		high |= uint64(s[at])
	}
	return at, high&tops == 0
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

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
	quote, backslash := w^'"'*ones, w^'\\'*ones
	return ((w-' '*ones)&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & tops
}

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
	c.has('-')
	if !c.has('0') && !c.digits() {
		return false
	}
	if c.has('.') && !c.digits() {
		return false
	}
	if !c.has('e') && !c.has('E') {
		return true
	}
	if !c.has('+') {
		c.has('-')
	}
	return c.digits()
}

// digits skips digits and reports whether there was at least one.
func (c *checker) digits() bool {
	from := c.at
	for isDigit(c.peek()) {
		c.at++
	}
	return c.at > from
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isHex(b byte) bool   { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }
