package record

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/ltsv"
)

// parseLTSV reads a line of labels and values. A label of the format that is
// there twice, or whose value is not what the format says, is data.
func parseLTSV(line string) (r Record, err error) {
	p := labelParser{parser: parser{record: &r}}
	for rest, more := line, true; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, "\t")
		label, value, ok := strings.Cut(pair, ":")
		if !ok {
			return r, errNeither
		}
		if value = unescape(value); !p.pair(label, value) {
			p.addField(label, value)
		}
	}
	switch {
	case !p.hasEvent:
		return r, errNoName
	case !p.hasCreatedAt:
		return r, errNoTime
	}
	return r, nil
}

// A labelParser reads the pairs of an event.
type labelParser struct {
	parser
	failure *Error // that pairs belong to
}

func (p *labelParser) pair(label, value string) bool {
	r := p.record
	switch label {
	case "time":
		ok := put(&r.CreatedAt, instantOf(value))
		p.hasCreatedAt = p.hasCreatedAt || ok
		return ok
	case "level":
		return severityOf(value) != SeverityNone && put(&r.Severity, severityOf(value))
	case "namespace":
		return put(&r.Namespace, value)
	case "event":
		ok := put(&r.Event, value)
		p.hasEvent = p.hasEvent || ok
		return ok
	case "trace_id":
		return put(&r.TraceID, value)
	case "span_id":
		return put(&r.SpanID, value)
	case "identity":
		return put(&p.auth().Identity, value)
	case "identity_type":
		return put(&p.auth().IdentityType, value)
	case "err":
		r.Errors = append(r.Errors, Error{Message: value})
		p.failure = &r.Errors[len(r.Errors)-1]
		return true
	case "stack":
		return p.failure != nil && p.failure.Stack == nil && p.stack(value)
	case "truncated":
		return p.truncated(value)
	}
	return p.httpPair(label, value)
}

func (p *labelParser) httpPair(label, value string) bool {
	switch label {
	case "host":
		return put(&p.http().Client, value)
	case "method":
		return put(&p.http().Method, value)
	case "protocol":
		return put(&p.http().Protocol, value)
	case "uri":
		return p.uri(value)
	case "scheme":
		return put(&p.http().Scheme, value)
	case "vhost":
		return put(&p.http().Host, value)
	case "port":
		return setInt(&p.http().Port, value)
	case "status":
		return setInt(&p.http().StatusCode, value)
	case "size":
		return setInt(&p.http().ResponseContentLength, value)
	case "reqsize":
		return setInt(&p.http().RequestContentLength, value)
	case "reqtime":
		d, ok := parseSeconds(value)
		return ok && put(&p.http().Duration, d)
	case "started_at":
		return put(&p.http().StartedAt, instantOf(value))
	case "ended_at":
		return put(&p.http().EndedAt, instantOf(value))
	case "ua":
		return put(&p.http().UserAgent, value)
	case "referer":
		return put(&p.http().Referer, value)
	case "route":
		return put(&p.http().Route, value)
	}
	return false
}

// put sets what is not set yet.
func put[T comparable](dst *T, value T) bool {
	var unset T
	if *dst != unset {
		return false
	}
	*dst = value
	return true
}

func (p *labelParser) http() *HTTP {
	if p.record.HTTP == nil {
		p.record.HTTP = new(HTTP)
	}
	return p.record.HTTP
}

func (p *labelParser) auth() *Auth {
	if p.record.Auth == nil {
		p.record.Auth = new(Auth)
	}
	return p.record.Auth
}

func (p *labelParser) uri(value string) bool {
	h := p.http()
	if h.Path != "" || h.Query != "" {
		return false
	}
	h.Path, h.Query, _ = strings.Cut(value, "?")
	return true
}

// truncated is the last label, so that what follows is no error's any more.
func (p *labelParser) truncated(value string) bool {
	if p.record.Truncated != nil || value == "" {
		return false
	}
	p.record.Truncated = strings.Split(value, ",")
	return true
}

// stack takes frames. What is none, an error text or what is left of a frame
// that was cut, becomes one that has no place.
func (p *labelParser) stack(value string) bool {
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

// cutFrame reads the first frame of a stack, which ends in a line number. Files
// may have spaces and colons in their names.
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

// cutLine reads the number of a line, behind which a stack ends, or a space and
// another frame come.
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

// addField keeps a pair as data, of the error that it stands behind if there
// is one.
func (p *labelParser) addField(label, value string) {
	if rest, ok := strings.CutPrefix(label, "data."); ok && ltsv.Reserved(rest) {
		label = rest
	}
	dst := &p.record.Data
	if p.failure != nil {
		dst = &p.failure.Data
	}
	*dst = append(*dst, Field{validUTF8(label), guess(value)})
}

// guess makes of a text what it looks like. It must not change: what is an
// array with white space in it stays a text.
func guess(value string) Value {
	if value == "" {
		return StringValue(value)
	}
	switch b := value[0]; {
	case value == "{}" || value == "true" || value == "false" || value == "null":
		return Value(value)
	case b == '-' || b == '[' || '0' <= b && b <= '9':
		if _, ok := jsonscan.Check(value); ok && string(valueOf(value)) == value {
			return Value(value)
		}
	}
	return StringValue(value)
}

// parseSeconds reads a decimal fraction of up to nine digits, exactly.
func parseSeconds(s string) (time.Duration, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimPrefix(whole, "-")
	if digits == "" || len(fraction) > 9 {
		return 0, false
	}
	for _, b := range []byte(digits + fraction) {
		if b < '0' || b > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(whole+fraction+"000000000"[len(fraction):], 10, 64)
	return time.Duration(n), err == nil
}

// unescape returns the value that an escaped one stands for. A backslash that
// begins no escape stands for itself, since others who write LTSV have none.
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

// validUTF8 returns s, each byte of it that is no UTF-8 as U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// unescapeFirst returns the first character of s and how many bytes it takes.
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
