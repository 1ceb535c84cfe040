package record

import "unicode/utf8"

// AppendPrintable appends a line that is no event, with the escapes of
// [Record.AppendHuman] in place of what could steer a terminal; tabs stay.
func AppendPrintable(dst, line []byte) []byte {
	for i := 0; i < len(line); {
		if c := line[i]; c == '\t' || ' ' <= c && c < 0x7F {
			dst = append(dst, c)
			i++
			continue
		}
		c, size := utf8.DecodeRune(line[i:])
		dst = appendShown(dst, string(c))
		i += size
	}
	return dst
}
