package record

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/ltsv"
	"github.com/weirhq/weir/log/internal/text"
)

// HumanOptions are the settings of the human form. The zero value is ready for
// use.
type HumanOptions struct {
	Color    bool           // for terminals: coloured levels and statuses, dim keys
	Location *time.Location // time zone of the clock; nil means local time
}

// shownTraceID is the number of characters of a trace id that are shown. A
// whole id takes up to 32 characters of a line that should fit a terminal.
// Eight distinguish the requests that a person looks at.
const shownTraceID = 8

// AppendHuman appends r in human form: a line for the event and lines for its
// errors, each with a newline. Control characters are escaped. The trace id is
// shortened.
func (r *Record) AppendHuman(dst []byte, o HumanOptions) []byte {
	dst = o.appendClock(dst, r.CreatedAt)
	dst = o.appendLevel(append(dst, ' '), r.Severity)
	dst = appendWord(dst, r.Event)
	fields := r.Data
	if r.HTTP != nil {
		dst = o.appendHTTP(dst, r.HTTP)
		dst, fields = appendTarget(dst, fields)
	}
	dst = o.appendFields(dst, fields)
	dst = o.appendTraceID(dst, r.TraceID)
	dst = o.appendText(dst, "span_id", r.SpanID)
	if r.Auth != nil {
		dst = o.appendText(dst, "identity", r.Auth.Identity)
		dst = o.appendText(dst, "identity_type", r.Auth.IdentityType)
	}
	dst = o.appendText(dst, "truncated", strings.Join(r.Truncated, ","))
	dst = append(dst, '\n')
	for i := range r.Errors {
		dst = o.appendError(dst, &r.Errors[i])
	}
	return dst
}

// appendClock appends the time of day, or the text that is not a time.
func (o HumanOptions) appendClock(dst []byte, at Instant) []byte {
	t, ok := at.Time()
	if !ok {
		return appendShown(dst, string(at))
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	return t.In(o.Location).AppendFormat(dst, "15:04:05.000")
}

const (
	resetColor = "\x1b[0m"
	dim        = "\x1b[2m"
)

// colors are the colours of the severities, among the sixteen that every
// terminal has and that its user can configure.
var colors = [...]string{
	SeverityNone:  "",
	SeverityFatal: "\x1b[1;31m",
	SeverityError: "\x1b[31m",
	SeverityWarn:  "\x1b[33m",
	SeverityInfo:  "\x1b[32m",
	SeverityDebug: "\x1b[36m",
}

// classColors are the colours of the status classes 2xx to 5xx.
var classColors = [...]string{2: "\x1b[32m", 3: "\x1b[36m", 4: "\x1b[33m", 5: "\x1b[31m"}

// begin appends the start of a colour, if Color is set. color may be "".
func (o HumanOptions) begin(dst []byte, color string) []byte {
	if o.Color {
		dst = append(dst, color...)
	}
	return dst
}

// end appends the end of a colour that begin has started.
func (o HumanOptions) end(dst []byte, color string) []byte {
	if o.Color && color != "" {
		dst = append(dst, resetColor...)
	}
	return dst
}

// appendLevel appends the level in upper case, padded to the longest.
func (o HumanOptions) appendLevel(dst []byte, s Severity) []byte {
	if !s.known() {
		s = SeverityNone
	}
	word := severities[s].upper
	dst = append(o.begin(dst, colors[s]), word...)
	return append(o.end(dst, colors[s]), "     "[len(word):]...)
}

func (o HumanOptions) appendHTTP(dst []byte, h *HTTP) []byte {
	dst = appendWord(dst, h.Method)
	dst = appendWord(dst, h.uri())
	if h.StatusCode != 0 {
		dst = o.appendStatus(append(dst, ' '), h.StatusCode)
	}
	if h.Duration != 0 {
		dst = appendRough(append(dst, ' '), h.Duration)
	}
	return dst
}

func (o HumanOptions) appendStatus(dst []byte, status int) []byte {
	color := ""
	if class := status / 100; class > 0 && class < len(classColors) {
		color = classColors[class]
	}
	return o.end(strconv.AppendInt(o.begin(dst, color), int64(status), 10), color)
}

// appendTarget appends the upstream of a request as one word, if data has its
// name and its address, and returns the other fields.
func appendTarget(dst []byte, data []Field) ([]byte, []Field) {
	const name, destination = "proxy_name", "destination"
	n, d := indexOfText(data, name), indexOfText(data, destination)
	if n < 0 || d < 0 {
		return dst, data
	}
	address := strings.TrimPrefix(unquote(string(data[d].Value)), "http://")
	dst = appendQuoted(append(dst, ' '), unquote(string(data[n].Value))+"@"+address)
	others := slices.Delete(slices.Clone(data), max(n, d), max(n, d)+1)
	return dst, slices.Delete(others, min(n, d), min(n, d)+1)
}

// indexOfText returns the index of the first field with that key and a non-empty
// string as its value, or -1.
func indexOfText(data []Field, key string) int {
	return slices.IndexFunc(data, func(f Field) bool {
		return f.Key == key && len(f.Value) > len(`""`) && f.Value[0] == '"'
	})
}

// appendTraceID appends the beginning of a trace id after the mark #, which is
// shorter than a key.
func (o HumanOptions) appendTraceID(dst []byte, id string) []byte {
	if id == "" {
		return dst
	}
	shown := 0
	for i := range id {
		if shown == shownTraceID {
			id = id[:i]
			break
		}
		shown++
	}
	return o.end(appendQuoted(append(o.begin(append(dst, ' '), dim), '#'), id), dim)
}

func (o HumanOptions) appendError(dst []byte, e *Error) []byte {
	dst = appendWord(append(dst, "    error:"...), e.Message)
	dst = append(o.appendFields(dst, e.Data), '\n')
	for _, f := range e.Stack {
		dst = appendShown(append(dst, "        "...), f.Function)
		if f.File != "" || f.Line != 0 {
			dst = appendShown(append(dst, ' '), f.File)
			dst = strconv.AppendInt(append(dst, ':'), int64(f.Line), 10)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendFields appends a space and key=value for each field.
func (o HumanOptions) appendFields(dst []byte, fields []Field) []byte {
	var room [64]byte
	for _, f := range fields {
		s := jsonscan.Scan(string(f.Value))
		dst = o.appendValue(dst, append(room[:0], f.Key...), &s)
	}
	return dst
}

// appendValue appends key=value. For an object it appends that for each member,
// with path as the first part of the key.
func (o HumanOptions) appendValue(dst, path []byte, s *jsonscan.Scanner[string]) []byte {
	if s.Peek() == '{' && len(path) <= ltsv.MaxPath {
		before := len(dst)
		dst = o.appendMembers(dst, append(path, '.'), s)
		if len(dst) == before {
			dst = append(o.appendKey(dst, path), "{}"...)
		}
		return dst
	}
	dst = o.appendKey(dst, path)
	json := s.Value()
	if strings.HasPrefix(json, `"`) {
		return appendQuoted(dst, unquote(json))
	}
	return append(dst, json...)
}

func (o HumanOptions) appendMembers(dst, prefix []byte, s *jsonscan.Scanner[string]) []byte {
	s.Enter()
	for {
		key, ok := s.Member()
		if !ok {
			return dst
		}
		dst = o.appendValue(dst, jsonscan.AppendUnquoted(prefix, key), s)
	}
}

func (o HumanOptions) appendKey(dst, key []byte) []byte {
	dst = o.begin(append(dst, ' '), dim)
	return o.end(append(appendQuoted(dst, string(key)), '='), dim)
}

// appendText appends key=value unless the value is empty.
func (o HumanOptions) appendText(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendQuoted(o.appendKey(dst, []byte(key)), value)
}

// appendQuoted appends s, in quotes if it would be ambiguous without them.
func appendQuoted(dst []byte, s string) []byte {
	mark := len(dst)
	dst = text.AppendString(dst, s)
	if s == "" || len(dst)-mark != len(s)+2 || strings.ContainsAny(s, " =") {
		return dst
	}
	return slices.Delete(dst[:len(dst)-1], mark, mark+1)
}

// appendWord appends a space and s, unless s is empty.
func appendWord(dst []byte, s string) []byte {
	if s == "" {
		return dst
	}
	return appendShown(append(dst, ' '), s)
}

// appendShown appends s without quotes. Quotes and backslashes are shown
// unchanged, and all other characters that JSON escapes are escaped.
func appendShown(dst []byte, s string) []byte {
	for {
		plain := strings.IndexAny(s, `"\\`)
		if plain < 0 {
			return appendUnquoted(dst, s)
		}
		dst = append(appendUnquoted(dst, s[:plain]), s[plain])
		s = s[plain+1:]
	}
}

// appendUnquoted appends s as a JSON string without its quotes.
func appendUnquoted(dst []byte, s string) []byte {
	mark := len(dst)
	dst = text.AppendString(dst, s)
	return slices.Delete(dst[:len(dst)-1], mark, mark+1)
}

// appendRough appends a duration with two or three digits, in the unit that
// fits. It drops the other digits.
func appendRough(dst []byte, d time.Duration) []byte {
	n := uint64(d)
	if d < 0 {
		dst, n = append(dst, '-'), -n
	}
	for _, unit := range []struct {
		name string
		size uint64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if n < unit.size {
			continue
		}
		dst = strconv.AppendUint(dst, n/unit.size, 10)
		if n < 10*unit.size {
			dst = strconv.AppendUint(append(dst, '.'), n*10/unit.size%10, 10)
		}
		return append(dst, unit.name...)
	}
	return append(strconv.AppendUint(dst, n, 10), "ns"...)
}

// AppendPrintable appends a line that is not an event, with control characters
// escaped as in [Record.AppendHuman]. Tabs are kept.
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
