package log

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

const (
	startBytes = 1 << 10

	// Larger buffers are not returned to the pool.
	maxKeptBytes   = 64 << 10
	maxKeptMembers = 1 << 10
)

// An encoder encodes one event. Its buffer starts with a newline, which output
// may need. Methods with a bool result return false for a value that the encoder
// cannot write; the contents of the buffer are then invalid.
type encoder struct {
	buf     []byte
	clock   text.Clock
	members []member      // of all objects that are being written, outermost first
	json    *json.Encoder // writes to buf
}

// A member is a key of a map and its value.
type member struct {
	key   string
	value any
}

var encoders = sync.Pool{New: func() any {
	enc := &encoder{buf: make([]byte, 0, startBytes)}
	enc.json = json.NewEncoder(enc)
	return enc
}}

// Write appends the output of encoding/json.
func (enc *encoder) Write(p []byte) (int, error) {
	enc.buf = append(enc.buf, p...)
	return len(p), nil
}

// free returns the encoder to the pool, unless it has grown too large. It is not
// called after a panic in a caller's code; the encoder is then garbage-collected.
func (enc *encoder) free() {
	if cap(enc.buf) > maxKeptBytes || cap(enc.members) > maxKeptMembers {
		return
	}
	clear(enc.members[:cap(enc.members)])
	enc.members = enc.members[:0]
	encoders.Put(enc)
}

// event writes e as one line, including the final newline.
func (enc *encoder) event(e *entry) bool {
	enc.buf = append(enc.buf[:0], "\n{\"created_at\":"...)
	if !enc.time(e.CreatedAt) {
		return false
	}
	enc.text(`,"namespace":`, e.Namespace)
	enc.text(`,"event":`, e.Event)
	if e.TraceID != "" {
		enc.text(`,"trace_id":`, e.TraceID)
	}
	if e.HasSeverity {
		enc.number(`,"severity":`, int64(e.Severity))
	}
	if e.Classification != "" {
		enc.text(`,"classification":`, string(e.Classification))
	}
	if !enc.options(e) {
		return false
	}
	enc.raw("}\n")
	return true
}

func (enc *encoder) options(e *entry) bool {
	if e.HTTP != nil && !enc.http(e.HTTP, e.StatusCode, e.Duration) {
		return false
	}
	if e.Auth != nil {
		enc.auth(e.Auth)
	}
	if e.HasData {
		enc.raw(`,"data":`)
		if !enc.object(e.Data, 0) {
			return false
		}
	}
	return e.Errors == nil || enc.errors(*e.Errors)
}

func (enc *encoder) http(h *EventHTTP, statusCode *int, took *time.Duration) bool {
	start := enc.open(`,"http":`)
	if statusCode != nil {
		enc.number(`,"status_code":`, int64(*statusCode))
	}
	enc.textUnlessEmpty(`,"method":`, h.Method)
	enc.textUnlessEmpty(`,"scheme":`, h.Scheme)
	enc.textUnlessEmpty(`,"host":`, h.Host)
	enc.numberUnlessZero(`,"port":`, int64(h.Port))
	enc.textUnlessEmpty(`,"path":`, h.Path)
	enc.textUnlessEmpty(`,"query":`, h.Query)
	if h.StartedAt != nil && !enc.timeOf(`,"started_at":`, *h.StartedAt) {
		return false
	}
	if h.EndedAt != nil && !enc.timeOf(`,"ended_at":`, *h.EndedAt) {
		return false
	}
	if took != nil {
		enc.number(`,"duration":`, int64(*took))
	}
	enc.numberUnlessZero(`,"response_content_length":`, h.ResponseContentLength)
	enc.close(start)
	return true
}

func (enc *encoder) auth(a *eventAuth) {
	start := enc.open(`,"auth":`)
	enc.textUnlessEmpty(`,"identity":`, a.Identity)
	enc.textUnlessEmpty(`,"identity_type":`, string(a.IdentityType))
	enc.close(start)
}

func (enc *encoder) errors(list EventErrors) bool {
	enc.raw(`,"errors":`)
	if list == nil {
		enc.raw("null")
		return true
	}
	enc.raw("[")
	for i := range list {
		if i > 0 {
			enc.raw(",")
		}
		if !enc.error(&list[i]) {
			return false
		}
	}
	enc.raw("]")
	return true
}

func (enc *encoder) error(e *EventError) bool {
	start := enc.open("")
	enc.textUnlessEmpty(`,"message":`, e.Message)
	if len(e.StackTrace) > 0 {
		enc.raw(`,"stack_trace":[`)
		for i := range e.StackTrace {
			if i > 0 {
				enc.raw(",")
			}
			enc.frame(&e.StackTrace[i])
		}
		enc.raw("]")
	}
	if e.Data != nil {
		enc.raw(`,"data":`)
		if !enc.value(e.Data, 0) {
			return false
		}
	}
	enc.close(start)
	return true
}

func (enc *encoder) frame(f *EventStackTrace) {
	start := enc.open("")
	enc.textUnlessEmpty(`,"file":`, f.File)
	enc.numberUnlessZero(`,"line":`, int64(f.Line))
	enc.textUnlessEmpty(`,"function":`, f.Function)
	enc.close(start)
}

// open starts an object and returns its offset. Every member is written with a
// leading comma; close replaces the first comma with the opening brace.
func (enc *encoder) open(key string) int {
	enc.raw(key)
	return len(enc.buf)
}

// close ends the object that starts at offset start.
func (enc *encoder) close(start int) {
	if len(enc.buf) == start {
		enc.raw("{}")
		return
	}
	enc.buf[start] = '{'
	enc.raw("}")
}

func (enc *encoder) raw(s string) { enc.buf = append(enc.buf, s...) }

func (enc *encoder) text(key, s string) {
	enc.buf = appendString(append(enc.buf, key...), s)
}

func (enc *encoder) textUnlessEmpty(key, s string) {
	if s != "" {
		enc.text(key, s)
	}
}

func (enc *encoder) number(key string, n int64) {
	enc.buf = strconv.AppendInt(append(enc.buf, key...), n, 10)
}

func (enc *encoder) numberUnlessZero(key string, n int64) {
	if n != 0 {
		enc.number(key, n)
	}
}

func (enc *encoder) timeOf(key string, t time.Time) bool {
	enc.raw(key)
	return enc.time(t)
}

// time writes t in its own time zone.
func (enc *encoder) time(t time.Time) bool {
	_, offset := t.Zone()
	if year := t.Year(); year < 0 || year > 9999 || offset <= -24*3600 || offset >= 24*3600 {
		return false // RFC 3339 cannot express it
	}
	enc.buf = append(enc.buf, '"')
	if offset == 0 {
		enc.buf = enc.clock.Append(enc.buf, t)
	} else {
		enc.buf = t.AppendFormat(enc.buf, time.RFC3339Nano)
	}
	enc.buf = append(enc.buf, '"')
	return true
}

// object writes m with sorted keys. depth is the number of enclosing objects and
// lists.
func (enc *encoder) object(m map[string]any, depth int) bool {
	if m == nil {
		enc.raw("null")
		return true
	}
	from := len(enc.members)
	for k, v := range m {
		enc.members = append(enc.members, member{k, v})
	}
	to := len(enc.members)
	slices.SortFunc(enc.members[from:to], func(a, b member) int { return strings.Compare(a.key, b.key) })

	enc.raw("{")
	for i := from; i < to; i++ {
		if i > from {
			enc.raw(",")
		}
		m := enc.members[i]
		enc.text("", m.key)
		enc.raw(":")
		if !enc.value(m.value, depth+1) {
			return false
		}
	}
	enc.raw("}")
	enc.members = enc.members[:from]
	return true
}
