package record

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/ltsv"
	"github.com/weirhq/weir/log/internal/text"
)

// HumanOptions say how an event is shown. The zero value is ready.
type HumanOptions struct {
	Color    bool           // whether the level is coloured, for terminals
	Location *time.Location // where the clock is read; nil is local time
}

// AppendHuman appends what r is for people: a line, and lines for its errors,
// each with its newline. No byte of r can steer the terminal.
func (r *Record) AppendHuman(dst []byte, o HumanOptions) []byte {
	dst = o.appendClock(dst, r.CreatedAt)
	dst = o.appendLevel(append(dst, ' '), r.Severity)
	dst = appendWord(dst, r.Event)
	if r.HTTP != nil {
		dst = r.HTTP.appendHuman(dst)
	}
	dst = appendHumanFields(dst, r.Data)
	dst = appendHumanText(dst, "trace_id", r.TraceID)
	dst = appendHumanText(dst, "span_id", r.SpanID)
	if r.Auth != nil {
		dst = appendHumanText(dst, "identity", r.Auth.Identity)
		dst = appendHumanText(dst, "identity_type", r.Auth.IdentityType)
	}
	dst = appendHumanText(dst, "truncated", strings.Join(r.Truncated, ","))
	dst = append(dst, '\n')
	for i := range r.Errors {
		dst = r.Errors[i].appendHuman(dst)
	}
	return dst
}

// appendClock appends the time of day, or what the line has in its place.
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

const resetColor = "\x1b[0m"

// colors are those of the severities, in the sixteen that every terminal has
// and lets its user choose.
var colors = [...]string{
	SeverityNone:  "",
	SeverityFatal: "\x1b[1;31m",
	SeverityError: "\x1b[31m",
	SeverityWarn:  "\x1b[33m",
	SeverityInfo:  "\x1b[32m",
	SeverityDebug: "\x1b[36m",
}

// appendLevel appends the level in upper case, padded to the longest.
func (o HumanOptions) appendLevel(dst []byte, s Severity) []byte {
	if !s.known() {
		s = SeverityNone
	}
	colored := o.Color && colors[s] != ""
	if colored {
		dst = append(dst, colors[s]...)
	}
	word := severities[s].upper
	dst = append(dst, word...)
	if colored {
		dst = append(dst, resetColor...)
	}
	return append(dst, "     "[len(word):]...)
}

func (h *HTTP) appendHuman(dst []byte) []byte {
	dst = appendWord(dst, h.Method)
	dst = appendWord(dst, h.uri())
	if h.StatusCode != 0 {
		dst = strconv.AppendInt(append(dst, ' '), int64(h.StatusCode), 10)
	}
	if h.Duration != 0 {
		dst = appendRough(append(dst, ' '), h.Duration)
	}
	return dst
}

func (e *Error) appendHuman(dst []byte) []byte {
	dst = appendWord(append(dst, "    error:"...), e.Message)
	dst = append(appendHumanFields(dst, e.Data), '\n')
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

// appendHumanFields appends key=value for each, a space before it.
func appendHumanFields(dst []byte, fields []Field) []byte {
	var room [64]byte
	for _, f := range fields {
		s := jsonscan.Scan(string(f.Value))
		dst = appendHumanValue(dst, append(room[:0], f.Key...), &s)
	}
	return dst
}

// appendHumanValue appends a value, of which path is the key after those of
// the objects that it is in, or what an object holds.
func appendHumanValue(dst, path []byte, s *jsonscan.Scanner[string]) []byte {
	if s.Peek() == '{' && len(path) <= ltsv.MaxPath {
		before := len(dst)
		dst = appendHumanMembers(dst, append(path, '.'), s)
		if len(dst) == before {
			dst = append(appendHumanKey(dst, path), "{}"...)
		}
		return dst
	}
	dst = appendHumanKey(dst, path)
	json := s.Value()
	if strings.HasPrefix(json, `"`) {
		return appendQuoted(dst, unquote(json))
	}
	return append(dst, json...)
}

func appendHumanMembers(dst, prefix []byte, s *jsonscan.Scanner[string]) []byte {
	s.Enter()
	for {
		key, ok := s.Member()
		if !ok {
			return dst
		}
		dst = appendHumanValue(dst, jsonscan.AppendUnquoted(prefix, key), s)
	}
}

func appendHumanKey(dst, key []byte) []byte {
	return append(appendQuoted(append(dst, ' '), string(key)), '=')
}

// appendHumanText appends key=value when the value is set.
func appendHumanText(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendQuoted(appendHumanKey(dst, []byte(key)), value)
}

// appendQuoted appends s, in quotes where it could not be told from what is
// around it.
func appendQuoted(dst []byte, s string) []byte {
	mark := len(dst)
	dst = text.AppendString(dst, s)
	if s == "" || len(dst)-mark != len(s)+2 || strings.ContainsAny(s, " =") {
		return dst
	}
	return slices.Delete(dst[:len(dst)-1], mark, mark+1)
}

// appendWord appends s as it is shown, a space before it, unless it is empty.
func appendWord(dst []byte, s string) []byte {
	if s == "" {
		return dst
	}
	return appendShown(append(dst, ' '), s)
}

// appendShown appends s without quotes: a quote and a backslash end nothing
// there and are shown as they are, all else that JSON escapes as the escape.
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

// appendUnquoted appends s as JSON has it between its quotes.
func appendUnquoted(dst []byte, s string) []byte {
	mark := len(dst)
	dst = text.AppendString(dst, s)
	return slices.Delete(dst[:len(dst)-1], mark, mark+1)
}

// appendRough appends a duration with two or three digits, the rest cut off,
// in the unit that has so many.
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
