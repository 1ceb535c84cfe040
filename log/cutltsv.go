package log

import "bytes"

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
		c.room = maxBytes
	} else {
		limit, c.room = shortText, maxBytes-len(open)-len(everything)-1
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
	if len(c.out)+tab+len(label)+len(":")+len(value) > c.room {
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
