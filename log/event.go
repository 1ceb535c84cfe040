package log

import (
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// An Event is a line that is being written. Methods add to it and return it,
// so that calls chain; [Event.Send] writes it and ends it. After that it is
// used for other events, so nobody may keep one. Only one goroutine at a time
// may use an Event.
//
// A nil Event, which is what a disabled level gives, takes every call and does
// nothing.
//
// Strings, slices and structs are encoded at the call: the caller may change
// them as soon as it returns.
type Event struct {
	logger   *Logger // nil once the event has ended
	level    Level
	template bool // started by With
	maxBytes int
	at       time.Time // zero: the instant of Send
	clock    text.Clock

	// The line, its parts always in the order of the wire, up to and without
	// the brace that closes data:
	//
	//	room | namespace, event | trace_id | span_id | severity | http | auth | data
	//
	// created_at varies in length and is known last; it goes into the room at
	// the front, right-aligned. Part p begins at starts[p] for p up to last;
	// those after last are not begun. Calls in the order of the wire append,
	// others move their part into place.
	buf    []byte
	starts [partCount]int
	last   part

	// The elements of "errors", without brackets. They are apart because
	// fields may follow an error.
	errorList []byte

	depth   int  // how many objects and arrays are open in data
	inArray bool // whether the innermost of them is an array

	cutter cutter
}

// A part is a stretch of the line that is found again after others were
// written.
type part uint8

const (
	partHead part = iota
	partTraceID
	partSpanID
	partSeverity
	partHTTP
	partAuth
	partData
	partCount
)

const (
	createdAtOpen   = `{"created_at":"`
	createdAtRoom   = 64       // holds createdAtOpen, any instant or error text, and a quote
	maxPooledBuffer = 64 << 10 // buffers that grew beyond are let go
)

var events = sync.Pool{New: func() any {
	return &Event{buf: make([]byte, 0, 1024)}
}}

// takeEvent returns an empty event.
func takeEvent(l *Logger, level Level, maxBytes int) *Event {
	e := events.Get().(*Event)
	e.logger, e.level, e.maxBytes = l, level, maxBytes
	return e
}

// release gives e back to the pool.
func (e *Event) release() {
	e.logger, e.template, e.at = nil, false, time.Time{}
	e.depth, e.inArray, e.last = 0, false, partHead
	e.buf = recycle(e.buf)
	e.errorList = recycle(e.errorList)
	e.cutter.recycle()
	events.Put(e)
}

// recycle returns b emptied, or nil when it is too big to keep.
func recycle(b []byte) []byte {
	if cap(b) > maxPooledBuffer {
		return nil
	}
	return b[:0]
}

// At sets created_at, for a caller that knows the instant already. Without it,
// and with the zero time, it is the instant of Send. With does not carry it.
func (e *Event) At(t time.Time) *Event {
	if e != nil && e.depth == 0 {
		e.at = t
	}
	return e
}

// TraceID sets the id that the events of one request share, in place of the
// one before. An empty id changes nothing.
func (e *Event) TraceID(id string) *Event {
	return e.setText(partTraceID, "trace_id", id)
}

// SpanID sets the id of the step of a trace, in place of the one before. An
// empty id changes nothing.
func (e *Event) SpanID(id string) *Event {
	return e.setText(partSpanID, "span_id", id)
}

// An IdentityType says what kind of caller was authenticated.
type IdentityType string

// The identity types.
const (
	IdentityUser    IdentityType = "user"
	IdentityService IdentityType = "service"
)

// Auth says who was authenticated, in place of what was said before.
func (e *Event) Auth(identity string, kind IdentityType) *Event {
	if e == nil {
		return nil
	}
	mark := e.open(partAuth, "auth")
	e.buf = append(e.buf, `{"identity":`...)
	e.buf = text.AppendString(e.buf, clip(identity, e.maxBytes))
	e.buf = append(e.buf, `,"identity_type":`...)
	e.buf = text.AppendString(e.buf, clip(string(kind), e.maxBytes))
	e.buf = append(e.buf, '}')
	e.settle(partAuth, mark)
	return e
}

// Send writes the event and ends it. What goes wrong is told to
// [Options.OnError].
func (e *Event) Send() {
	if e == nil || e.logger == nil || e.depth > 0 {
		return
	}
	if !e.template {
		e.logger.out.write(e.level, e.finish())
	}
	e.release()
}

// Logger ends the event without writing it, and returns a Logger that writes
// what the event holds with each of its own. It is meant for [Logger.With].
func (e *Event) Logger() *Logger {
	if e == nil || e.logger == nil {
		return nil
	}
	if e.depth > 0 {
		return e.logger
	}
	derived := e.logger.derive(e)
	e.release()
	return derived
}

// finish completes the line and returns it.
func (e *Event) finish() []byte {
	hasData := e.last == partData
	e.advance(partData)
	if hasData {
		e.buf = append(e.buf, '}')
	}
	if len(e.errorList) > 0 {
		e.buf = append(e.buf, `,"errors":[`...)
		e.buf = append(e.buf, e.errorList...)
		e.buf = append(e.buf, ']')
	}
	e.buf = append(e.buf, '}', '\n')
	line := e.buf[e.putCreatedAt():]
	if len(line) > e.maxBytes {
		return e.cutter.cut(line, e.maxBytes)
	}
	return line
}

// putCreatedAt writes created_at into the room at the front and returns where
// it begins.
func (e *Event) putCreatedAt() int {
	if e.at.IsZero() {
		e.at = time.Now()
	}
	var room [createdAtRoom]byte
	b := append(room[:0], createdAtOpen...)
	b = append(e.clock.Append(b, e.at), '"')
	from := createdAtRoom - len(b)
	copy(e.buf[from:], b)
	return from
}

// setText sets a part that is one string.
func (e *Event) setText(p part, key, value string) *Event {
	if e == nil || value == "" {
		return e
	}
	mark := e.open(p, key)
	e.buf = text.AppendString(e.buf, clip(value, e.maxBytes))
	e.settle(p, mark)
	return e
}

// open prepares for the value of part p, which replaces what p held, and
// returns where its bytes begin; settle must follow. Inside an object or array
// it is a field like others.
func (e *Event) open(p part, key string) (mark int) {
	if e.depth > 0 {
		e.key(key)
		return len(e.buf)
	}
	if p <= e.last {
		e.empty(p)
	} else {
		e.advance(p)
	}
	mark = len(e.buf)
	e.buf = append(e.buf, ',', '"')
	e.buf = append(e.buf, key...)
	e.buf = append(e.buf, '"', ':')
	return mark
}

// settle moves the bytes from mark on, the newest, to where part p stands.
func (e *Event) settle(p part, mark int) {
	if e.depth > 0 || p == e.last {
		return
	}
	rotate(e.buf[e.starts[p+1]:], mark-e.starts[p+1])
	for later := p + 1; later <= e.last; later++ {
		e.starts[later] += len(e.buf) - mark
	}
}

// rotate moves the first n bytes of b behind the others.
func rotate(b []byte, n int) {
	slices.Reverse(b[:n])
	slices.Reverse(b[n:])
	slices.Reverse(b)
}

// empty removes what part p, which is begun, holds.
func (e *Event) empty(p part) {
	from, to := e.starts[p], e.end(p)
	e.buf = slices.Delete(e.buf, from, to)
	for later := p + 1; later <= e.last; later++ {
		e.starts[later] -= to - from
	}
}

// end returns where part p, which is begun, ends.
func (e *Event) end(p part) int {
	if p == e.last {
		return len(e.buf)
	}
	return e.starts[p+1]
}

// advance begins the parts up to p, which is not begun. The severity, which
// every event has, is written when it is passed.
func (e *Event) advance(p part) {
	for e.last < p {
		e.last++
		e.starts[e.last] = len(e.buf)
		if e.last == partSeverity {
			e.buf = append(append(e.buf, `,"severity":`...), e.level.severity())
		}
	}
}

// clip spares the buffer what would be cut anyway: of a text longer than a
// whole event may be, no more than that ever remains.
func clip[T string | []byte](text T, maxBytes int) T {
	if len(text) > maxBytes {
		return text[:maxBytes]
	}
	return text
}
