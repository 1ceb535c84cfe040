package curl

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A shellWord is a word of a command of a POSIX shell, without its quotes.
type shellWord struct {
	text   string
	offset int
}

// A shellReader splits a text into the words of its commands, as bash does for words without expansions. It knows the
// quotes that browsers write: '…', "…" and $'…'. Anything that a shell would expand or run is an error.
type shellReader struct {
	text string
	at   int
}

var errNoEnd = errors.New("the quotes do not end")

// command returns the words of the next command, and none after the last one. A command ends with a line, ; or &. The
// offset of an error is r.at.
func (r *shellReader) command() (words []shellWord, err error) {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t' || c == '\r':
			r.at++
		case r.continued():
			r.at += r.lineEnd(r.at+1) + 1
		case c == '\n' || c == ';' || c == '&':
			if r.at++; len(words) > 0 {
				return words, nil
			}
		case c == '#':
			if end := strings.IndexByte(r.text[r.at:], '\n'); end >= 0 {
				r.at += end
			} else {
				r.at = len(r.text)
			}
		default:
			w := shellWord{offset: r.at}
			if w.text, err = r.word(); err != nil {
				return nil, err
			}
			words = append(words, w)
		}
	}
	return words, nil
}

// lineEnd returns the length of the line end at an offset, 0 if there is none.
func (r *shellReader) lineEnd(at int) int {
	switch rest := r.text[at:]; {
	case strings.HasPrefix(rest, "\n"):
		return 1
	case strings.HasPrefix(rest, "\r\n"):
		return 2
	}
	return 0
}

// continued reports whether a backslash joins the next line.
func (r *shellReader) continued() bool { return r.text[r.at] == '\\' && r.lineEnd(r.at+1) > 0 }

// word reads a word.
func (r *shellReader) word() (string, error) {
	var b strings.Builder
	for r.at < len(r.text) {
		c := r.text[r.at]
		var part string
		var err error
		switch {
		case strings.IndexByte(" \t\r\n;&", c) >= 0:
			return b.String(), nil
		case c == '\'':
			part, err = r.single()
		case c == '"':
			part, err = r.double()
		case strings.HasPrefix(r.text[r.at:], "$'"):
			part, err = r.escaped()
		case r.continued():
			r.at += 1 + r.lineEnd(r.at+1)
		case c == '\\' && r.at+1 < len(r.text):
			part = r.text[r.at+1 : r.at+2]
			r.at += 2
		case c == '^':
			err = errors.New("this is a command of Windows; copy the request as cURL (bash) or cURL (POSIX)")
		case strings.IndexByte("$`|<>()", c) >= 0:
			err = fmt.Errorf("%q is for a shell; put the word in single quotes", c)
		default:
			part = r.text[r.at : r.at+1]
			r.at++
		}
		if err != nil {
			return "", err
		}
		b.WriteString(part)
	}
	return b.String(), nil
}

// single reads '…'.
func (r *shellReader) single() (string, error) {
	text, _, ok := strings.Cut(r.text[r.at+1:], "'")
	if !ok {
		return "", errNoEnd
	}
	r.at += len(text) + 2
	return text, nil
}

// double reads "…".
func (r *shellReader) double() (string, error) {
	var b strings.Builder
	for i := r.at + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			return b.String(), nil
		case c == '\\' && i+1 < len(r.text) && strings.IndexByte("\\\"$`", r.text[i+1]) >= 0:
			i++
			b.WriteByte(r.text[i])
		case c == '\\' && r.lineEnd(i+1) > 0:
			i += r.lineEnd(i + 1)
		case c == '`' || c == '$' && i+1 < len(r.text) && expands(r.text[i+1]):
			r.at = i
			return "", fmt.Errorf("%q is for a shell; put the word in single quotes", c)
		default:
			b.WriteByte(c)
		}
	}
	return "", errNoEnd
}

// expands reports whether a shell expands $ before a character.
func expands(c byte) bool {
	return c == '{' || c == '(' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// plainEscapes are the escapes of one character in $'…'.
var plainEscapes = map[byte]string{
	'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
	'\\': "\\", '\'': "'", '"': "\"", '?': "?",
}

// escaped reads $'…'.
func (r *shellReader) escaped() (string, error) {
	var b strings.Builder
	for i := r.at + len("$'"); i < len(r.text); {
		switch c := r.text[i]; {
		case c == '\'':
			r.at = i + 1
			return b.String(), nil
		case c != '\\' || i+1 == len(r.text):
			b.WriteByte(c)
			i++
		case plainEscapes[r.text[i+1]] != "":
			b.WriteString(plainEscapes[r.text[i+1]])
			i += 2
		default:
			part, n := numberEscape(r.text[i:])
			if part == "" {
				r.at = i
				return "", fmt.Errorf("the escape %.2q is not known", r.text[i:])
			}
			b.WriteString(part)
			i += n
		}
	}
	return "", errNoEnd
}

// numberEscape returns the text of an escape with a number, and its length; "" if it is none: \x and \ooo are bytes, \u
// and \U characters. Firefox writes a character beyond the first plane as two \u.
func numberEscape(s string) (text string, n int) {
	value, n, isByte := escapedNumber(s)
	switch {
	case n == 0:
		return "", 0
	case isByte:
		return string([]byte{byte(value)}), n
	}
	if utf16.IsSurrogate(value) && strings.HasPrefix(s[n:], `\u`) {
		low, m, _ := escapedNumber(s[n:])
		if both := utf16.DecodeRune(value, low); both != utf8.RuneError {
			return string(both), n + m
		}
	}
	return string(value), n
}

// escapedNumber returns the number of an escape and the length of the escape, 0 if it has no digit.
func escapedNumber(s string) (value rune, n int, isByte bool) {
	begin, base, most, isByte := 1, 8, 3, true
	switch s[1] {
	case 'x':
		begin, base, most = 2, 16, 2
	case 'u':
		begin, base, most, isByte = 2, 16, 4, false
	case 'U':
		begin, base, most, isByte = 2, 16, 8, false
	}
	for n = begin; n < min(begin+most, len(s)); n++ {
		digit := strings.IndexByte("0123456789abcdef", s[n])
		if 'A' <= s[n] && s[n] <= 'F' {
			digit = int(s[n]-'A') + 10
		}
		if digit < 0 || digit >= base {
			break
		}
		value = value*rune(base) + rune(digit)
	}
	if n == begin {
		return 0, 0, isByte
	}
	return value, n, isByte
}
