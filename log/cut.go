package log

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// A cutter makes a line that is too long fit. It reads the line that was
// written, which is known to be JSON without white space, so that nothing is
// paid for it by lines that fit.
//
// First it cuts the longest strings to one common length, the greatest that
// fits, and names each. Where that would leave next to nothing of them (the
// length lies in long arrays, in thousands of fields or in keys), it cuts all
// strings to shortText and leaves out what comes after the room is used up,
// and names only the parts of the event that this happened in.
//
// The zero value is ready; the slices are kept for the next time.
type cutter struct {
	line  []byte
	next  int // where in line reading goes on
	depth int // brackets open at next

	path  []byte // names that lead to what is read, joined by dots, as they stand in JSON
	texts []textSize
	out   []byte
	names []byte // of what was cut: strings joined by commas

	measuring bool // only collect texts
	limit     int  // bytes of a string that may remain
	budget    int  // bytes that out may have, with the brackets open
	brief     bool // name parts of the event instead of paths
}

// A textSize is what a string weighs, in bytes as it stands in the line.
type textSize struct{ text, path int }

const (
	shortText = 40 // strings are not cut below; longer than any instant

	truncatedOpen  = `,"truncated":[`
	truncatedClose = "]}\n"

	// What a line needs beside its fields when it is cut the hard way: the
	// keys and brackets of http, auth, data and errors, and the names of all
	// parts in "truncated".
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
	c.out = append(c.out[:len(c.out)-1], truncatedOpen...) // in place of the last brace
	c.out = append(c.out, c.names...)
	return append(c.out, truncatedClose...)
}

// fairLimit returns the greatest length to which the longest of c.texts can be
// cut so that a line fits, their names included, each of which takes so many
// bytes beside itself.
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

// read goes through the whole line.
func (c *cutter) read() {
	c.next, c.depth = 0, 0
	c.path, c.out, c.names = c.path[:0], c.out[:0], c.names[:0]
	if c.measuring {
		c.texts = c.texts[:0]
	}
	c.value()
}

// value reads one value.
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

// members reads an object or an array.
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
		c.out = append(c.out, closing) // member kept room for it
	}
}

// member reads the nth member of an object or array. It is taken back when
// there was no room for it.
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

// full reports whether there is no room for what was last written. The event's
// own keys always have room.
func (c *cutter) full() bool {
	return !c.measuring && c.depth > 1 && len(c.out)+c.depth > c.budget
}

// name reads the key of a member and its colon.
func (c *cutter) name() {
	from := c.next
	c.skipString()
	c.path = append(c.path, c.line[from+1:c.next-1]...)
	c.next++
	c.copy(c.line[from:c.next])
}

// text reads a string that is a value.
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

// skipString moves next behind the string that begins there.
func (c *cutter) skipString() {
	i := c.next + 1
	for ; c.line[i] != '"'; i++ {
		if c.line[i] == '\\' {
			i++
		}
	}
	c.next = i + 1
}

// copy appends to out, unless that is full already: what is longer is taken
// back anyway, however much of it there is.
func (c *cutter) copy(b []byte) {
	if !c.measuring && !c.full() {
		c.out = append(c.out, b...)
	}
}

// note adds the place that is read to the names of what was cut.
func (c *cutter) note() {
	name := c.path
	if c.brief {
		name = c.part()
		// The line is read in order: a part that was named is the last named.
		if n := len(c.names) - len(name); n >= 2 && string(c.names[n-1:len(c.names)-1]) == string(name) {
			return
		}
	}
	if len(c.names) > 0 {
		c.names = append(c.names, ',')
	}
	c.names = append(append(append(c.names, '"'), name...), '"')
}

// part returns the first name of the path, the key of the event itself, none
// of which has a dot in it.
func (c *cutter) part() []byte {
	for i, b := range c.path {
		if b == '.' {
			return c.path[:i]
		}
	}
	return c.path
}

// wholeCharacters returns the greatest length up to limit at which text, which
// stands as in JSON, can be cut without cutting a character or its escape.
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

// characterSize returns how many bytes the first character of text takes.
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

// isHighSurrogate reports whether four hexadecimal digits are the first half
// of a pair that stands for one character.
func isHighSurrogate(digits []byte) bool {
	return digits[0]|0x20 == 'd' && (digits[1] == '8' || digits[1] == '9' || digits[1]|0x20 == 'a' || digits[1]|0x20 == 'b')
}

// recycle lets go of what is too big to keep.
func (c *cutter) recycle() {
	if len(c.out) == 0 {
		return // it was not used
	}
	recycle(&c.path)
	recycle(&c.out)
	recycle(&c.names)
	if cap(c.texts)*16 > maxPooledBuffer {
		c.texts = nil
	}
}

// cutLTSV returns the line, pairs of LTSV, shortened to maxBytes, in a buffer of
// the cutter. It goes about it as cut does, only that it leaves out whole pairs.
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

// pair copies a pair, its value cut to limit, if there is room for it.
func (c *cutter) pair(label, value []byte, limit int) {
	cut := len(value) > limit
	if cut {
		value = value[:wholeCharacters(value, limit)]
	}
	tab := min(len(c.out), 1) // none before the first
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
