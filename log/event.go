package log

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// An Event is a line that is being written. Methods add to it and return it,
// so that calls chain; [Event.Send] writes it and ends it. A copy of an Event is
// the same event. Only one goroutine at a time may use an event: a call that
// runs while another goroutine ends the event is a data race.
//
// An event that has ended ignores every call. The call changes no other event,
// whatever was logged since, in any goroutine. A program built with the race
// detector reports such a call, with its place in the code and the place of
// Send, to [Options.OnError], or to standard error if that is nil. The command
// log/logvet finds such calls, and events without Send, in the source.
//
// The zero Event, which a disabled level returns, ignores every call too.
//
// Strings, slices and structs are encoded at the call: the caller may change
// them as soon as it returns.
type Event struct {
	open       *openEvent // nil in the zero Event
	generation uint64     // open.generation until the event ends
}

// isOpen reports whether the event has not ended. Its cost for the inliner
// matters: with a few nodes more, Str is no longer compiled into its caller.
func (e Event) isOpen() bool {
	if reportMisuse {
		e.checkUse()
	}
	return e.open != nil && e.open.generation == e.generation
}

// checkUse reports a call on an event that has ended. It is called only if
// reportMisuse is true. Then no openEvent is used for a second event, so that
// e.open still knows its output and the place of Send.
func (e Event) checkUse() {
	if e.open == nil || e.open.generation == e.generation {
		return
	}
	err := fmt.Errorf("log: an Event was used at %s after it had ended at %s", callerOfPackage(), e.open.ended)
	if onError := e.open.out.onError; onError != nil {
		onError(err)
	} else {
		fmt.Fprintln(os.Stderr, "WARNING:", err)
	}
}

// An openEvent is the state of an event that has not ended. It is pooled. turn
// counts the events that used it, so that an Event kept from an earlier turn is
// recognised as ended.
type openEvent struct {
	generation uint64
	ended      string // the call that ended the last turn; only if reportMisuse
	logger     *Logger
	out        *output
	level      Level
	template   bool // started by With
	stacks     bool // errors that know no stack get that of the call
	callers    bool // for a template: its Logger's events name their caller

	ownTraceID, ownSpanID []byte // for a template: its Logger's ids

	maxBytes int
	nested   int       // objects and arrays so far
	at       time.Time // zero: the instant of Send
	timer    timer
	clock    text.Clock

	line
	stamp stamp
	cursor

	// The errors, as the encoder wants them. They are apart because fields may
	// follow an error.
	errorList  []byte
	firstError int // the length of the first of them

	pcs      [maxFrames]uintptr // the stack or the caller that is being added
	calledAt uintptr            // where slog was called: stacks begin there; or 0
	cutter   cutter
	human    []byte // the line in its form for people
}

// A cursor is where in data the next field goes, and how it is written.
type cursor struct {
	// Whether the next field is a member of a JSON object and nothing is
	// redacted: its key needs no more questions.
	quick bool

	notation  notation
	separator byte // JSON: what stands before the next field: a bracket or a comma
	inArray   bool
	depth     int // how many objects and arrays are open
}

const (
	firstBuffer     = 1 << 10
	maxPooledBuffer = 64 << 10 // buffers that grew beyond are let go
)

var events = sync.Pool{New: func() any { return new(openEvent) }}

// takeEvent returns an empty event.
func takeEvent(out *output, level Level) *openEvent {
	e := events.Get().(*openEvent)
	e.out, e.level, e.maxBytes = out, level, out.maxEventBytes
	e.notation = out.notation
	if e.buf == nil {
		e.buf = make([]byte, 0, firstBuffer)
		e.stamp = stamp{}
	}
	if e.stamp.notation != e.notation { // which may have a shorter front
		e.stamp = stamp{}
	}
	return e
}

// handle returns the Event for the current turn.
func (e *openEvent) handle() Event { return Event{e, e.generation} }

// release ends the event and returns e to the pool.
func (e *openEvent) release() {
	e.generation++
	if reportMisuse {
		e.ended = callerOfPackage()
		return
	}
	if e.template {
		recycle(&e.ownTraceID)
		recycle(&e.ownSpanID)
	}
	e.logger, e.template, e.stacks, e.callers = nil, false, false, false
	e.at, e.calledAt, e.nested = time.Time{}, 0, 0
	e.cursor = cursor{}
	e.line.recycle()
	recycle(&e.errorList)
	recycle(&e.human)
	e.cutter.recycle()
	events.Put(e)
}

// recycle empties b, and lets go of it when it is too big to keep.
func recycle(b *[]byte) {
	if cap(*b) > maxPooledBuffer {
		*b = nil
	}
	*b = (*b)[:0]
}

// At sets created_at, for a caller that knows the instant already. Without it,
// and with the zero time, it is the instant of Send; within a second after
// somebody has set the system's clock, events may disagree on that. With does
// not carry it.
func (e Event) At(t time.Time) Event {
	if e.isOpen() && e.open.depth == 0 {
		e.open.at = t
	}
	return e
}

// TraceID sets the id that the events of one request share, in place of the
// one before. An empty id changes nothing.
func (e Event) TraceID(id string) Event {
	if e.isOpen() {
		e.open.traceID(id)
	}
	return e
}

func (e *openEvent) traceID(id string) {
	switch {
	case id == "":
	case e.depth > 0:
		e.str("trace_id", id)
	default:
		mark := e.open(partTraceID)
		if e.template {
			e.ownTraceID = append(e.ownTraceID[:0], clip(id, e.maxBytes)...)
		}
		e.addLabeled(`,"trace_id":"`, "\ttrace_id:", id)
		e.settle(partTraceID, mark)
	}
}

// SpanID sets the id of the step of a trace, in place of the one before. An
// empty id changes nothing.
func (e Event) SpanID(id string) Event {
	if e.isOpen() {
		e.open.spanID(id)
	}
	return e
}

func (e *openEvent) spanID(id string) {
	switch {
	case id == "":
	case e.depth > 0:
		e.str("span_id", id)
	default:
		mark := e.open(partSpanID)
		if e.template {
			e.ownSpanID = append(e.ownSpanID[:0], clip(id, e.maxBytes)...)
		}
		e.addLabeled(`,"span_id":"`, "\tspan_id:", id)
		e.settle(partSpanID, mark)
	}
}

// addLabeled appends a text behind a label, in the event's notation. In JSON the
// label ends in the text's first quote.
func (e *openEvent) addLabeled(json, ltsv, value string) {
	if value = clip(value, e.maxBytes); e.notation == notationLTSV {
		text.PutPair(&e.buf, ltsv, value)
	} else {
		text.PutLabeled(&e.buf, json, value)
	}
}

// An IdentityType says what kind of caller was authenticated. Readers know the
// two below; any other is written as it is.
type IdentityType string

// The identity types.
const (
	IdentityUser    IdentityType = "user"
	IdentityService IdentityType = "service"
)

// Auth says who was authenticated, in place of what was said before. Empty
// texts are written, too; where nobody was, leave the call out.
func (e Event) Auth(identity string, kind IdentityType) Event {
	if e.isOpen() {
		e.open.auth(identity, kind)
	}
	return e
}

func (e *openEvent) auth(identity string, kind IdentityType) {
	if e.depth > 0 {
		e.object("auth", func(Event) error {
			e.str("identity", identity)
			e.str("identity_type", string(kind))
			return nil
		})
		return
	}
	mark := e.open(partAuth)
	e.addLabeled(`,"auth":{"identity":"`, "\tidentity:", identity)
	e.addLabeled(`,"identity_type":"`, "\tidentity_type:", string(kind))
	if e.notation == notationJSON {
		e.buf = append(e.buf, '}')
	}
	e.settle(partAuth, mark)
}

// Caller adds the place in the code that called it, as the field "caller":
// "folder/file.go:12". In [Logger.With] it makes each event of the new Logger
// name the call that started it. It costs a step up the stack, and an
// allocation for a place that was not seen before.
func (e Event) Caller() Event {
	if e.isOpen() {
		e.open.caller()
	}
	return e
}

func (e *openEvent) caller() {
	if e.template && e.depth == 0 {
		e.callers = true
		return
	}
	const callerOfCaller = 3
	e.addCaller(callerOfCaller)
}

// addCaller adds the place of the call, skip calls above this function's.
func (e *openEvent) addCaller(skip int) {
	if runtime.Callers(skip+1, e.pcs[:1]) == 1 {
		e.str("caller", frameOf(e.pcs[0]).place)
	}
}

// Send writes the event and ends it. What goes wrong is told to
// [Options.OnError].
func (e Event) Send() {
	if e.isOpen() {
		e.open.send()
	}
}

func (e *openEvent) send() {
	if e.depth > 0 {
		return
	}
	if !e.template {
		e.out.write(e.level, e.out.encoder.finish(e))
	}
	e.release()
}

// Logger ends the event without writing it, and returns a Logger that writes
// what the event holds, but for the instant of [Event.At], with each of its
// own. It is meant for [Logger.With]; of an event that has ended it is nil.
func (e Event) Logger() *Logger {
	if e.isOpen() {
		return e.open.derive()
	}
	return nil
}

func (e *openEvent) derive() *Logger {
	if e.depth > 0 {
		return e.logger
	}
	derived := e.logger.derive(e)
	e.release()
	return derived
}

// createdAt returns the instant of the event: seconds since 1970, and
// nanoseconds since that second.
func (e *openEvent) createdAt() (second int64, ns uint32) {
	if e.at.IsZero() {
		return e.timer.now()
	}
	return e.at.Unix(), uint32(e.at.Nanosecond())
}

// clip spares the buffer what would be cut anyway: of a text longer than a
// whole event may be, no more than that ever remains.
func clip[T string | []byte](value T, maxBytes int) T {
	if len(value) > maxBytes {
		return value[:maxBytes]
	}
	return value
}
