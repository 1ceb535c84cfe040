package log

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// A cutter shortens a line that is too long. It parses the encoded line, which
// is JSON without white space, so that lines that fit cost nothing.
//
// First it cuts the longest strings to one common length, the greatest that
// fits, and lists their paths. If too little would remain of them (because the
// bytes are in long arrays, in thousands of fields or in keys), it cuts all
// strings to shortText, leaves out everything beyond the budget, and lists only
// the parts of the event in which it has done so.
//
// The zero value is ready. The slices are reused.
type cutter struct {
	line  []byte
	next  int // offset in line of the next byte to read
	depth int // open brackets at next

	path  []byte // the keys and indexes to the current value, joined by dots, as encoded in JSON
	texts []textSize
	out   []byte
	names []byte // names of cut values: JSON strings separated by commas

	measuring bool // collect texts only
	limit     int  // maximum bytes of a string
	budget    int  // maximum bytes of out, including the closing brackets
	brief     bool // list parts of the event instead of paths
}

// A textSize is the length of a string and of its path, in encoded bytes.
type textSize struct{ text, path int }

const (
	shortText = 40 // the minimum length of a cut string; longer than any timestamp

	truncatedOpen  = `,"truncated":[`
	truncatedClose = "]}\n"

	// The bytes that a line needs besides its fields if it is cut to shortText:
	// the keys and brackets of http, auth, data and errors, and the names of
	// all parts in "truncated".
	hardReserve = 176
)

// cut returns the line shortened to maxBytes, in a buffer of the cutter.
func (c *cutter) cut(line []byte, maxBytes int) []byte {
	c.line = line
	c.measuring = true
	c.read()
	c.measuring = false
	if limit, ok := c.fairLimit(len(line)+len(truncatedOpen), maxBytes, len(`"",`)); ok {
		c.limit, c.budget, c.brief = limit, maxBytes, false
	} else {
		c.limit, c.budget, c.brief = shortText, maxBytes-hardReserve, true
	}
	c.read()
	c.line = nil
	c.out = append(c.out[:len(c.out)-1], truncatedOpen...) // instead of the last brace
	c.out = append(c.out, c.names...)
	return append(c.out, truncatedClose...)
}

// fairLimit returns the greatest length to which the longest of c.texts can be
// cut so that the line fits, with their paths listed. aroundName is the number
// of bytes that each listed path takes in addition to its own.
func (c *cutter) fairLimit(lineBytes, maxBytes, aroundName int) (limit int, ok bool) {
	slices.SortFunc(c.texts, func(a, b textSize) int { return cmp.Compare(b.text, a.text) })
	fixed := lineBytes // bytes that are not cut
	for i, t := range c.texts {
		fixed += t.path + aroundName - t.text
		limit = (maxBytes - fixed) / (i + 1)
		longestLeft := shortText
		if i+1 < len(c.texts) {
			longestLeft = c.texts[i+1].text
		}
		if limit >= longestLeft {
			return limit, true
		}
	}
	return 0, false
}

// read parses the whole line.
func (c *cutter) read() {
	c.next, c.depth = 0, 0
	c.path, c.out, c.names = c.path[:0], c.out[:0], c.names[:0]
	if c.measuring {
		c.texts = c.texts[:0]
	}
	c.value()
}

// value parses one value.
func (c *cutter) value() {
	switch c.line[c.next] {
	case '{':
		c.members('}')
	case '[':
		c.members(']')
	case '"':
		c.text()
	default:
		from := c.next
		for !endsNumber(c.line[c.next]) {
			c.next++
		}
		c.copy(c.line[from:c.next])
	}
}

// endsNumber reports whether b cannot belong to a number, true, false or null.
func endsNumber(b byte) bool { return b == ',' || b == '}' || b == ']' }

// members parses an object or an array.
func (c *cutter) members(closing byte) {
	c.copy(c.line[c.next : c.next+1])
	c.next++
	c.depth++
	for n := 0; c.line[c.next] != closing; n++ {
		if c.line[c.next] == ',' {
			c.next++
		}
		c.member(n, closing == '}')
	}
	c.depth--
	c.next++
	if !c.measuring {
		c.out = append(c.out, closing) // within the budget, see full
	}
}

// member parses the nth member of an object or array. If the budget is used up,
// it removes the member from out.
func (c *cutter) member(n int, named bool) {
	outMark, pathMark := len(c.out), len(c.path)
	if n > 0 && !c.measuring && !endsOpen(c.out) {
		c.out = append(c.out, ',')
	}
	if pathMark > 0 {
		c.path = append(c.path, '.')
	}
	if named {
		c.name()
	} else {
		c.path = strconv.AppendInt(c.path, int64(n), 10)
	}
	c.value()
	if c.full() {
		c.out = c.out[:outMark]
		c.note()
	}
	c.path = c.path[:pathMark]
}

// endsOpen reports whether the last of out is an opening bracket.
func endsOpen(out []byte) bool {
	last := out[len(out)-1]
	return last == '{' || last == '['
}

// full reports whether out has exceeded the budget. The event's own keys are
// always kept.
func (c *cutter) full() bool {
	return !c.measuring && c.depth > 1 && len(c.out)+c.depth > c.budget
}

// name parses the key of a member and its colon.
func (c *cutter) name() {
	from := c.next
	c.skipString()
	c.path = append(c.path, c.line[from+1:c.next-1]...)
	c.next++
	c.copy(c.line[from:c.next])
}

// text parses a string value.
func (c *cutter) text() {
	from := c.next
	c.skipString()
	text := c.line[from+1 : c.next-1]
	switch {
	case c.measuring && len(text) > shortText:
		c.texts = append(c.texts, textSize{text: len(text), path: len(c.path)})
	case !c.measuring && len(text) > c.limit:
		c.copy(c.line[from : from+1+wholeCharacters(text, c.limit)])
		c.copy(c.line[c.next-1 : c.next])
		c.note()
	default:
		c.copy(c.line[from:c.next])
	}
}

// skipString moves next past the string that begins there.
func (c *cutter) skipString() {
	i := c.next + 1
	for ; c.line[i] != '"'; i++ {
		if c.line[i] == '\\' {
			i++
		}
	}
	c.next = i + 1
}

// copy appends to out, unless out is already full: everything beyond that is
// removed anyway.
func (c *cutter) copy(b []byte) {
	if !c.measuring && !c.full() {
		c.out = append(c.out, b...)
	}
}

// note adds the current path to the names.
func (c *cutter) note() {
	name := c.path
	if c.brief {
		name = c.part()
		// The parts are read in order, so only the last name can be equal.
		if n := len(c.names) - len(name); n >= 2 && string(c.names[n-1:len(c.names)-1]) == string(name) {
			return
		}
	}
	if len(c.names) > 0 {
		c.names = append(c.names, ',')
	}
	c.names = append(append(append(c.names, '"'), name...), '"')
}

// part returns the first key of the path, one of the event's own keys. None of
// these contains a dot.
func (c *cutter) part() []byte {
	for i, b := range c.path {
		if b == '.' {
			return c.path[:i]
		}
	}
	return c.path
}

// wholeCharacters returns the greatest length up to limit that splits no
// character or escape of text, which is encoded as in JSON.
func wholeCharacters(text []byte, limit int) int {
	i := 0
	for i < len(text) {
		size := characterSize(text[i:])
		if i+size > limit {
			break
		}
		i += size
	}
	return i
}

// characterSize returns the encoded size of the first character of text.
func characterSize(text []byte) int {
	switch b := text[0]; {
	case b == '\\' && text[1] != 'u':
		return 2
	case b == '\\' && isHighSurrogate(text[2:6]):
		return len(`\ud83d\ude00`)
	case b == '\\':
		return len(`\u0000`)
	case b < 0x80:
		return 1
	case b < 0xE0:
		return 2
	case b < 0xF0:
		return 3
	}
	return 4
}

// isHighSurrogate reports whether four hexadecimal digits are the first half of
// a surrogate pair.
func isHighSurrogate(digits []byte) bool {
	return digits[0]|0x20 == 'd' &&
		(digits[1] == '8' || digits[1] == '9' || digits[1]|0x20 == 'a' || digits[1]|0x20 == 'b')
}

// recycle drops buffers that are too big to keep.
func (c *cutter) recycle() {
	if len(c.out) == 0 {
		return // unused
	}
	recycle(&c.path)
	recycle(&c.out)
	recycle(&c.names)
	if cap(c.texts)*16 > maxPooledBuffer {
		c.texts = nil
	}
}

// cutLTSV returns the line, pairs of LTSV, shortened to maxBytes, in a buffer
// of the cutter. Like cut, it shortens the longest values first. It leaves out
// whole pairs only.
func (c *cutter) cutLTSV(line []byte, maxBytes int) []byte {
	c.texts, c.out, c.names = c.texts[:0], c.out[:0], c.names[:0]
	body := line[:len(line)-1]
	for label, value := range pairs(body) {
		if len(value) > shortText {
			c.texts = append(c.texts, textSize{text: len(value), path: len(label)})
		}
	}
	const open, everything = "\ttruncated:", "*"
	limit, ok := c.fairLimit(len(line)+len(open)-1, maxBytes, len(",")) // the first name has no comma
	if ok {
		c.budget = maxBytes
	} else {
		limit, c.budget = shortText, maxBytes-len(open)-len(everything)-1
	}
	for label, value := range pairs(body) {
		c.pair(label, value, limit)
	}
	if !ok {
		c.names = append(c.names[:0], everything...)
	}
	c.out = append(append(c.out, open...), c.names...)
	return append(c.out, '\n')
}

// pair copies a pair, its value cut to limit, if it fits into the budget.
func (c *cutter) pair(label, value []byte, limit int) {
	cut := len(value) > limit
	if cut {
		value = value[:wholeCharacters(value, limit)]
	}
	tab := min(len(c.out), 1) // no tab before the first pair
	if len(c.out)+tab+len(label)+len(":")+len(value) > c.budget {
		return
	}
	if tab > 0 {
		c.out = append(c.out, '\t')
	}
	c.out = append(append(append(c.out, label...), ':'), value...)
	if cut {
		if len(c.names) > 0 {
			c.names = append(c.names, ',')
		}
		c.names = append(c.names, label...)
	}
}

// pairs yields the labels and values of a line of LTSV.
func pairs(line []byte) func(yield func(label, value []byte) bool) {
	return func(yield func(label, value []byte) bool) {
		for more := true; more; {
			var pair []byte
			pair, line, more = bytes.Cut(line, tab)
			label, value, _ := bytes.Cut(pair, colon)
			if !yield(label, value) {
				return
			}
		}
	}
}

var tab, colon = []byte{'\t'}, []byte{':'}
