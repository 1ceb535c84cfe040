package http1

import "github.com/weirhq/weir/internal/httpsyntax"

// lines is the position in a sequence of lines that end with CRLF. Each byte is searched
// once for the end of its line, however often the caller has to read.
type lines struct {
	start int // of the current line
	seen  int // before it, the current line has no control byte
}

// next returns the end of the current line in buf, or -1 if the line is incomplete.
func (l *lines) next(buf []byte) (end int, err *Error) {
	i := findControl(buf, l.seen)
	l.seen = i
	switch {
	case i == len(buf) || buf[i] == '\r' && i+1 == len(buf):
		return -1, nil
	case buf[i] == '\r' && buf[i+1] == '\n':
		return i, nil
	case buf[i] == '\r':
		return 0, bad(errBareCR, i)
	case buf[i] == '\n':
		return 0, bad(errBareLF, i)
	}
	return 0, bad(errControl, i)
}

// passed begins the line after the one that ends at end.
func (l *lines) passed(end int) { l.start, l.seen = end+2, end+2 }

// parseField parses the line buf[start:end], which contains no control byte and is not
// empty.
func parseField(buf []byte, start, end int) (Field, *Error) {
	line := buf[start:end]
	colon := httpsyntax.TokenLen(line)
	if colon == 0 || colon == len(line) || line[colon] != ':' {
		if line[0] == ' ' || line[0] == '\t' {
			return Field{}, bad(errFold, start)
		}
		return Field{}, bad(errName, start+colon)
	}
	value := colon + 1
	for value < len(line) && isBlank(line[value]) {
		value++
	}
	last := len(line)
	for last > value && isBlank(line[last-1]) {
		last--
	}
	return Field{Name: span(start, start+colon), Value: span(start+value, start+last)}, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
