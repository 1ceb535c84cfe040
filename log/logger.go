package log

import (
	"slices"
	"sync/atomic"

	"github.com/weirhq/weir/log/internal/text"
)

// A Logger starts events. It is safe for concurrent use. A nil Logger and the
// zero Logger discard everything.
type Logger struct {
	out  *output       // nil: discard
	min  *atomic.Int32 // the lowest level; nil: discard
	head string        // the text from created_at, or the level, to the name of the event

	// The encoded parts that With has added, their offsets, and the last of
	// them.
	parts      string
	starts     [partCount]int
	last       part
	errorList  []byte
	firstError int
	stacks     bool
	callers    bool

	traceID, spanID string // as passed to With
	hold            *Hold  // holds the events; nil: Send writes them
}

// Enabled reports whether events of the level are written. [Options.Sampling]
// may still drop an event.
func (l *Logger) Enabled(level Level) bool {
	return l != nil && l.min != nil && int32(level) >= l.min.Load()
}

// Debug starts an event of [LevelDebug]. As with the other levels, [Event.Send]
// writes the event, and the result is the zero Event if the level is disabled.
func (l *Logger) Debug(event string) Event {
	if l.Enabled(LevelDebug) {
		return l.start(LevelDebug, event)
	}
	return Event{}
}

// Info starts an event of [LevelInfo].
func (l *Logger) Info(event string) Event {
	if l.Enabled(LevelInfo) {
		return l.start(LevelInfo, event)
	}
	return Event{}
}

// Warn starts an event of [LevelWarn].
func (l *Logger) Warn(event string) Event {
	if l.Enabled(LevelWarn) {
		return l.start(LevelWarn, event)
	}
	return Event{}
}

// Error starts an event of [LevelError].
func (l *Logger) Error(event string) Event {
	if l.Enabled(LevelError) {
		return l.start(LevelError, event)
	}
	return Event{}
}

// Fatal starts an event of [LevelFatal]. It does not exit.
func (l *Logger) Fatal(event string) Event {
	if l.Enabled(LevelFatal) {
		return l.start(LevelFatal, event)
	}
	return Event{}
}

// Log starts an event of a level that is only known at run time.
func (l *Logger) Log(level Level, event string) Event {
	if l.Enabled(level) {
		return l.start(level, event)
	}
	return Event{}
}

// With starts an event that is not sent. Its content is encoded once, and
// [Event.Logger] returns a Logger that adds it to each of its events. It
// returns the zero Event if the logger discards.
func (l *Logger) With() Event {
	if l == nil || l.out == nil {
		return Event{}
	}
	e := l.begin(LevelInfo, "")
	e.template, e.callers = true, l.callers
	e.ownTraceID = append(e.ownTraceID, l.traceID...)
	e.ownSpanID = append(e.ownSpanID, l.spanID...)
	return e.handle()
}

// TraceID returns the trace id that With has added to the logger's events, or
// "" if there is none.
func (l *Logger) TraceID() string {
	if l == nil {
		return ""
	}
	return l.traceID
}

// start returns a new event, or the zero Event if sampling drops it. A level
// method must call it directly, because Caller counts frames.
func (l *Logger) start(level Level, event string) Event {
	if !l.out.sample(level, event) {
		return Event{}
	}
	e := l.begin(level, event)
	if l.callers {
		const callerOfLevel = 3
		e.addCaller(callerOfLevel)
	}
	return e.handle()
}

// begin returns an event with the content that l adds.
func (l *Logger) begin(level Level, event string) *openEvent {
	e := takeEvent(l.out, level)
	e.logger, e.hold = l, l.hold
	e.buf = e.buf[:l.out.front]
	if event = clip(event, e.maxBytes); e.notation == notationLTSV {
		e.buf = append(e.buf, ltsvLevels[level.nearest()-LevelDebug]...)
		text.PutPair(&e.buf, l.head, event)
	} else {
		text.PutLabeled(&e.buf, l.head, event)
	}
	if e.base = len(e.buf); l.last > partHead {
		e.addParts(l)
	}
	if len(l.errorList) > 0 {
		e.errorList, e.firstError = append(e.errorList, l.errorList...), l.firstError
	}
	e.stacks = l.stacks
	return e
}

// addParts adds the encoded parts of l.
func (e *openEvent) addParts(l *Logger) {
	e.buf = append(e.buf, l.parts...)
	e.last = l.last
	e.starts = l.starts
	if l.last >= partSeverity && e.notation == notationJSON {
		e.buf[e.base+l.starts[partSeverity]+len(severityLabel)] = e.level.severity()
	}
	if l.last == partData {
		e.separator = ','
		e.setQuick()
	}
}

// derive returns a Logger with the content of e. The parts and ids share one
// allocation.
func (l *Logger) derive(e *openEvent) *Logger {
	parts, traceID := len(e.buf)-e.base, len(e.ownTraceID)
	texts := string(append(append(e.buf, e.ownTraceID...), e.ownSpanID...)[e.base:])
	return &Logger{
		out: l.out, min: l.min, head: l.head,
		traceID: texts[parts : parts+traceID], spanID: texts[parts+traceID:],
		parts: texts[:parts], starts: e.starts, last: e.last,
		errorList: slices.Clone(e.errorList), firstError: e.firstError,
		stacks: e.stacks, callers: e.callers, hold: e.hold,
	}
}
