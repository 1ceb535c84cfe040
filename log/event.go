package log

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// An Event is a line of the log under construction. Its methods add to it and
// return it, so that calls can be chained; [Event.Send] writes it and ends it.
// A copy of an Event is the same event. Only one goroutine at a time may use an
// event: a call that runs while another goroutine ends the event is a data
// race.
//
// An event that has ended ignores every call. Such a call never changes another
// event, in any goroutine. A program built with the race detector reports the
// call to [Options.OnError], or to standard error if that is nil, with its
// place in the code and the place of Send. The command log/logvet finds such
// calls, and events without Send, in the source.
//
// The zero Event, which a disabled level returns, ignores every call too.
//
// Strings, slices and structs are encoded during the call. The caller may
// change them as soon as it returns.
type Event struct {
	open       *openEvent // nil in the zero Event
	generation uint64     // equal to open.generation until the event ends
}

// isOpen reports whether the event has not ended. Keep it small: with a few
// more nodes, the compiler no longer inlines Str.
func (e Event) isOpen() bool {
	if reportMisuse {
		e.checkUse()
	}
	return e.open != nil && e.open.generation == e.generation
}

// checkUse reports a call on an event that has ended. It is called only if
// reportMisuse is true. In that case each openEvent is used for one event only,
// so that e.open still has its output and the place of Send.
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

// An openEvent is the state of an event that has not ended. It is pooled.
// generation counts the events that have used it, so that an Event from before
// is recognised as ended.
type openEvent struct {
	generation uint64
	ended      string // the call that ended the last event; set only if reportMisuse
	logger     *Logger
	out        *output
	hold       *Hold // nil: the event is written by Send
	level      Level
	template   bool // started by With
	stacks     bool // errors without a stack get the stack of the call
	callers    bool // for a template: add the caller to each event of its Logger

	ownTraceID, ownSpanID []byte // for a template: the ids of its Logger

	maxBytes int
	nested   int       // objects and arrays so far
	at       time.Time // zero: the time of Send
	timer    timer
	clock    text.Clock

	line
	stamp stamp
	cursor

	// The encoded errors. They are kept apart from buf because fields may
	// follow an error.
	errorList  []byte
	firstError int // length of the first encoded error

	pcs      [maxFrames]uintptr // the stack or the caller being added
	calledAt uintptr            // where slog was called, and stacks begin; or 0
	cutter   cutter
	human    []byte // the line in the human format
}

// A cursor is the position of the next field in data, and its notation.
type cursor struct {
	// The notation of the next field if its key needs no further checks: if it
	// is a member of an object and nothing is redacted. Otherwise noNotation.
	quick notation

	notation  notation
	separator byte // JSON: written before the next field; a bracket or a comma
	inArray   bool
	depth     int // number of open objects and arrays
}

var events = sync.Pool{New: func() any { return new(openEvent) }}

// takeEvent returns an empty event from the pool.
func takeEvent(out *output, level Level) *openEvent {
	e := events.Get().(*openEvent)
	e.out, e.level, e.maxBytes = out, level, out.maxEventBytes
	e.notation = out.notation
	if e.buf == nil {
		e.buf = make([]byte, 0, firstBuffer)
		e.stamp = stamp{}
	}
	if e.stamp.notation != e.notation { // whose front may be shorter
		e.stamp = stamp{}
	}
	return e
}

// handle returns the Event of the current generation.
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
	e.logger, e.hold, e.template, e.stacks, e.callers = nil, nil, false, false, false
	e.at, e.calledAt, e.nested = time.Time{}, 0, 0
	e.cursor = cursor{}
	e.line.recycle()
	recycle(&e.errorList)
	recycle(&e.human)
	e.cutter.recycle()
	events.Put(e)
}

// At sets created_at, for a caller that already knows the time. Without it, or
// with the zero time, created_at is the time of Send. If the system's clock was
// set within the last second, that time may be off by the adjustment. Loggers
// made by With do not inherit it.
func (e Event) At(t time.Time) Event {
	if e.isOpen() && e.open.depth == 0 {
		e.open.at = t
	}
	return e
}

// TraceID sets the id that the events of one request share, and replaces an
// earlier one. An empty id changes nothing.
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

// SpanID sets the id of the span, and replaces an earlier one. An empty id
// changes nothing.
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

// addLabeled appends a label and a text, in the event's notation. The JSON
// label includes the opening quote of the text.
func (e *openEvent) addLabeled(json, ltsv, value string) {
	if value = clip(value, e.maxBytes); e.notation == notationLTSV {
		text.PutPair(&e.buf, ltsv, value)
	} else {
		text.PutLabeled(&e.buf, json, value)
	}
}

// An IdentityType is the kind of caller that was authenticated. Readers know
// the two constants below; any other value is written unchanged.
type IdentityType string

// The identity types.
const (
	IdentityUser    IdentityType = "user"
	IdentityService IdentityType = "service"
)

// Auth sets the authenticated identity, and replaces an earlier one. Empty
// texts are written too; do not call it for an anonymous request.
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

// Caller adds the place in the code where it is called, as the field "caller":
// "folder/file.go:12". In [Logger.With] it adds to each event of the new Logger
// the place that started the event. It walks one step up the stack, and
// allocates for a place that was not seen before.
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

// addCaller adds the place of a caller, skip calls above the caller of
// addCaller.
func (e *openEvent) addCaller(skip int) {
	if runtime.Callers(skip+1, e.pcs[:1]) == 1 {
		e.str("caller", frameOf(e.pcs[0]).place)
	}
}

// Send writes the event and ends it. Errors are reported to [Options.OnError].
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
		e.hold.put(e.out, e.level, e.out.encoder.finish(e))
	}
	e.release()
}

// Logger ends the event without writing it. It returns a Logger that adds the
// content of the event, except for the time of [Event.At], to each of its own
// events. It is meant for [Logger.With]. It returns nil if the event has ended.
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

// createdAt returns the time of the event: seconds since 1970, and nanoseconds
// of that second.
func (e *openEvent) createdAt() (second int64, ns uint32) {
	if e.at.IsZero() {
		return e.timer.now()
	}
	return e.at.Unix(), uint32(e.at.Nanosecond())
}
