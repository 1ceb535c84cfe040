package http1

import "github.com/weirhq/weir/internal/httpsyntax"

// lines is the position in a sequence of lines that end with CRLF. Each byte is searched
// once for the end of its line, however often the caller has to read.
type lines struct {
	start int // of the current line
	seen  int // before it, the current line has no control byte
}

// next returns the end of the current line in buf, without its CRLF, or -1 if the line is
// incomplete. If it is complete, the line after it becomes the current one.
func (l *lines) next(buf []byte) (end int, err *Error) {
	i := httpsyntax.FindControl(httpsyntax.View(buf), l.seen)
	if i+1 < len(buf) && buf[i] == '\r' && buf[i+1] == '\n' {
		l.start, l.seen = i+2, i+2
		return i, nil
	}
	return l.stop(buf, i)
}

// stop returns why the current line is not complete, though all bytes before i are valid.
func (l *lines) stop(buf []byte, i int) (end int, err *Error) {
	l.seen = i
	switch {
	case i == len(buf) || buf[i] == '\r' && i+1 == len(buf):
		return -1, nil
	case buf[i] == '\r':
		return 0, bad(errBareCR, i)
	case buf[i] == '\n':
		return 0, bad(errBareLF, i)
	}
	return 0, bad(errControl, i)
}

// nextField parses the next line as a field. The field has no name if the line is empty,
// which ends the section. end is as for next.
func (l *lines) nextField(buf []byte) (f Field, end int, err *Error) {
	start := l.start
	if end, err = l.next(buf); end <= start || err != nil {
		return Field{}, end, err
	}
	line := buf[start:end]
	colon := httpsyntax.TokenLen(line)
	if colon == 0 || colon == len(line) || line[colon] != ':' {
		return Field{}, 0, badName(line, start, colon)
	}
	value, last := colon+1, len(line)
	for value < last && isBlank(line[value]) {
		value++
	}
	for last > value && isBlank(line[last-1]) {
		last--
	}
	return Field{Name: span(start, start+colon), Value: span(start+value, start+last)}, end, nil
}

// badName returns the error about a line that begins with a token of n bytes and has no
// colon after it.
func badName(line []byte, start, n int) *Error {
	if isBlank(line[0]) {
		return bad(errFold, start)
	}
	return bad(errName, start+n)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
