package log

import (
	"context"
	"io"
	"slices"
	"sync/atomic"

	"github.com/weirhq/weir/log/internal/text"
	"github.com/weirhq/weir/log/internal/unwrap"
)

// Options are the settings of a [Logger]. The zero value is ready for use.
type Options struct {
	// Namespace is the name of the service, written into every event, empty
	// or not.
	Namespace string

	// Level is the lowest level that is written: a [Level], or a [*LevelVar]
	// to change it later. Nil is LevelInfo.
	Level Leveler

	// Format is the form of the lines; zero is FormatJSON.
	Format Format

	// MaxEventBytes bounds the length of a line, newline included. Zero is
	// 16 KiB, beyond which container runtimes split lines. What is below 512,
	// the room that an event needs to say that it was cut, counts as 512.
	// FormatHuman, which is read by people alone, may be longer.
	MaxEventBytes int

	// Redact lists keys whose values are secret, be A to Z in upper or lower
	// case: "[redacted]" is written in their place, for fields at any depth,
	// the fields of errors, members of what Any encodes, and parameters in the
	// query of a request or a referer. If it is not empty, a user and password
	// in a referer are hidden, too. Nothing else is searched: not the name of
	// the event, auth, paths, or a text that has a secret somewhere in it.
	Redact []string

	// Sampling thins out events that come too often; nil writes all. Other
	// loggers may have the same one.
	Sampling *Sampling

	// Context adds facts of a context to an event, such as the ids of the
	// current OpenTelemetry span: see package log/otellog. [Event.Context] and
	// the handler of [Logger.Handler] call it, in many goroutines at once. It
	// must not keep the event. If it panics, the field "context" says so. Nil
	// adds nothing.
	Context func(context.Context, Event)

	// OnError is told why a line could not be written, in the goroutine that
	// called Send, and so by many at once. Nil leaves it to the writer to keep
	// count. It must neither panic nor log to the same logger. In a program
	// built with the race detector it is also told of calls on ended events.
	OnError func(error)
}

const (
	defaultMaxEventBytes = 16 << 10
	leastMaxEventBytes   = 512
)

// A Logger starts events. Many goroutines may use one at once. A nil Logger
// and the zero Logger discard everything.
type Logger struct {
	out  *output       // nil: discard
	min  *atomic.Int32 // the lowest level; nil: discard
	head string        // what stands between created_at, or the level, and the name of the event

	// The encoded parts of a line that With put in, where in these they begin,
	// and the last of them.
	parts      string
	starts     [partCount]int
	last       part
	groups     int    // open at the end of data
	prefix     []byte // of labels of LTSV, for these groups
	errorList  []byte
	firstError int
	stacks     bool
	callers    bool

	traceID, spanID string // as they were given to With
}

// New returns a Logger that writes one line for each event to w, each with a
// single Write and only one Write at a time, but for files and connections,
// which keep lines whole themselves; see [EventWriter] for writers that do
// better. A nil w discards everything. Nothing that w does may log to the same
// Logger, which waits for it.
func New(w io.Writer, o Options) *Logger {
	if w == nil {
		return &Logger{}
	}
	if o.Level == nil {
		o.Level = LevelInfo
	}
	if o.MaxEventBytes == 0 {
		o.MaxEventBytes = defaultMaxEventBytes
	}
	o.MaxEventBytes = max(o.MaxEventBytes, leastMaxEventBytes)

	if o.Format == FormatAuto {
		o.Format = autoFormat(w)
	}

	out := newOutput(w, o)
	if user, ok := unwrap.First[optionsUser](w); ok {
		user.UseOptions(o)
	}
	head := out.encoder.appendNamespace(nil, clip(o.Namespace, o.MaxEventBytes))
	return &Logger{out: out, min: &o.Level.levelVar().level, head: string(head)}
}

// Enabled reports whether events of that level are written, as far as the level
// goes: [Options.Sampling] may still leave one out.
func (l *Logger) Enabled(level Level) bool {
	return l != nil && l.min != nil && int32(level) >= l.min.Load()
}

// Debug starts an event of [LevelDebug]. As with the other levels, the event
// is written by [Event.Send], and is the zero Event when the level is not
// enabled.
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

// Fatal starts an event of [LevelFatal]. To exit is left to the caller.
func (l *Logger) Fatal(event string) Event {
	if l.Enabled(LevelFatal) {
		return l.start(LevelFatal, event)
	}
	return Event{}
}

// Log starts an event of a level that is known only when the program runs.
func (l *Logger) Log(level Level, event string) Event {
	if l.Enabled(level) {
		return l.start(level, event)
	}
	return Event{}
}

// With starts an event that is not for sending: what is added to it is encoded
// once, and [Event.Logger] returns a Logger that writes it with each of its
// events. It is the zero Event for a logger that discards.
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

// TraceID returns the trace id that With has put into the logger's events, or
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
	if !l.out.keeps(level, event) {
		return Event{}
	}
	e := l.begin(level, event)
	if l.callers {
		const callerOfLevel = 3
		e.addCaller(callerOfLevel)
	}
	return e.handle()
}

// begin returns an event that holds all that l knows of it.
func (l *Logger) begin(level Level, event string) *openEvent {
	e := takeEvent(l.out, level)
	e.logger = l
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

// addParts adds the parts that l carries.
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
		if e.groups = l.groups; len(l.prefix) > 0 {
			e.prefix = append(e.prefix, l.prefix...)
		}
	}
}

// derive returns a Logger that carries the content of e. Its parts and ids share
// one allocation.
func (l *Logger) derive(e *openEvent) *Logger {
	parts, traceID := len(e.buf)-e.base, len(e.ownTraceID)
	texts := string(append(append(e.buf, e.ownTraceID...), e.ownSpanID...)[e.base:])
	return &Logger{
		out: l.out, min: l.min, head: l.head,
		traceID: texts[parts : parts+traceID], spanID: texts[parts+traceID:],
		parts: texts[:parts], starts: e.starts, last: e.last,
		groups: e.groups, prefix: slices.Clone(e.prefix),
		errorList: slices.Clone(e.errorList), firstError: e.firstError,
		stacks: e.stacks, callers: e.callers,
	}
}
