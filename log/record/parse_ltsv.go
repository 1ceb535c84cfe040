package record

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirhq/weir/log/internal/ltsv"
)

// parseLTSV reads a line of labels and values. A label of the format is data if
// it repeats, or if its value is of another type.
func (p *parser) parseLTSV(line string) error {
	p.widen()
	if p.reader != nil {
		p.record.Data = p.reader.data[:0]
		defer func() { p.reader.data = p.record.Data }()
	}
	for rest, more := line, true; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, "\t")
		label, value, ok := strings.Cut(pair, ":")
		if !ok {
			return errNeither
		}
		if !p.pair(label, value) && p.omitted == 0 {
			p.addField(label, unescape(value))
		}
	}
	return nil
}

// widen reduces the set of omitted members. A label belongs to data or to an
// error depending on the labels before it, and any label of http means that
// there is an HTTP.
func (p *parser) widen() {
	if !p.omitted.has(keyData) || !p.omitted.has(keyErrors) {
		p.omitted = 0
	}
	for _, object := range []set{httpPlaces, authPlaces} {
		if p.omitted&object != object {
			p.omitted &^= object
		}
	}
}

func (p *parser) pair(label, value string) bool {
	if place, ok := labels[label]; ok {
		return p.setLabel(place, value)
	}
	r := &p.record
	switch label {
	case "uri":
		return p.omitted&httpPlaces != 0 || p.uri(unescape(value))
	case "err":
		if !p.omitted.has(keyErrors) {
			r.Errors = append(r.Errors, Error{Message: unescape(value)})
			p.failure = &r.Errors[len(r.Errors)-1]
		}
		return true
	case "stack":
		return p.failure != nil && p.failure.Stack == nil && p.stack(unescape(value))
	case "truncated":
		return p.truncated(unescape(value))
	}
	return false
}

// setLabel sets the field of keys[place]. It creates the HTTP or the Auth that the
// field is in, unless the value is of another type.
func (p *parser) setLabel(place int, value string) bool {
	r := &p.record
	hadHTTP := r.HTTP != nil
	switch {
	case p.omitted.has(place):
		p.saw(place)
		return true
	case place >= firstAuth:
		p.auth()
	case place >= firstHTTP:
		p.http()
	}
	if !setLTSV(keys[place].field(r), unescape(value)) {
		if !hadHTTP {
			r.HTTP = nil
		}
		return false
	}
	p.saw(place)
	return true
}

func (p *parser) uri(value string) bool {
	h := p.http()
	if h.Path != "" || h.Query != "" {
		return false
	}
	h.Path, h.Query, _ = strings.Cut(value, "?")
	return true
}

func (p *parser) truncated(value string) bool {
	if p.record.Truncated != nil || value == "" {
		return false
	}
	p.record.Truncated = strings.Split(value, ",")
	return true
}

// stack reads frames. An error text, or the rest of a frame that was cut,
// becomes a frame without a file.
func (p *parser) stack(value string) bool {
	for value != "" {
		frame, rest, ok := cutFrame(value)
		if !ok {
			frame, rest = Frame{Function: value}, ""
		}
		p.failure.Stack = append(p.failure.Stack, frame)
		value = rest
	}
	return p.failure.Stack != nil
}

// cutFrame reads the first frame of a stack, which ends with a line number.
// File names may contain spaces and colons.
func cutFrame(stack string) (f Frame, rest string, ok bool) {
	function, place, ok := strings.Cut(stack, "@")
	if !ok {
		return f, "", false
	}
	for i := range len(place) {
		if place[i] != ':' {
			continue
		}
		if line, rest, ok := cutLine(place[i+1:]); ok {
			return Frame{File: place[:i], Line: line, Function: function}, rest, true
		}
	}
	return f, "", false
}

// cutLine reads a line number. After it the stack ends, or a space and another
// frame follow.
func cutLine(s string) (line int, rest string, ok bool) {
	const maxDigits = 9
	n := 0
	for n < len(s) && n < maxDigits && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	line, err := strconv.Atoi(s[:n])
	switch rest = s[n:]; {
	case err != nil:
		return 0, "", false
	case rest == "":
		return line, "", true
	}
	return line, rest[1:], rest[0] == ' ' && len(rest) > 1
}

// addField adds a pair to the data of the last error before it, or of the
// event.
func (p *parser) addField(label, value string) {
	if rest, ok := strings.CutPrefix(label, "data."); ok && ltsv.Reserved(rest) {
		label = rest
	}
	dst := &p.record.Data
	if p.failure != nil {
		dst = &p.failure.Data
	}
	*dst = append(*dst, Field{validUTF8(label), guess(value)})
}

// guess converts a text to the value that it looks like, if the text of the
// value is the same. An array with white space remains a text.
func guess(value string) Value {
	if value == "" {
		return StringValue(value)
	}
	switch b := value[0]; {
	case value == "{}" || value == "true" || value == "false" || value == "null":
		return Value(value)
	case b == '-' || '0' <= b && b <= '9':
		if validNumber(value) {
			return Value(value)
		}
	case b == '[':
		if validArray(value) && string(valueOf(value)) == value {
			return Value(value)
		}
	}
	return StringValue(value)
}

// unescape returns the unescaped value. A backslash that begins no escape is
// kept, because other programs write LTSV without escapes.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return validUTF8(s)
	}
	b := make([]byte, 0, len(s))
	for s != "" {
		c, size := unescapeFirst(s)
		b = utf8.AppendRune(b, c)
		s = s[size:]
	}
	return string(b)
}

// validUTF8 returns s with U+FFFD in place of each byte that is not UTF-8.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// unescapeFirst returns the first character of s and its length in bytes.
func unescapeFirst(s string) (c rune, size int) {
	if s[0] != '\\' || len(s) == 1 {
		return utf8.DecodeRuneInString(s)
	}
	switch s[1] {
	case '\\':
		return '\\', 2
	case 't':
		return '\t', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 'u':
		if len(s) < len(`\u0000`) {
			break
		}
		if n, err := strconv.ParseUint(s[2:6], 16, 16); err == nil && utf8.ValidRune(rune(n)) {
			return rune(n), 6
		}
	}
	return '\\', 1
}
