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
	// Namespace is the name of the service. It is written into every event,
	// even if it is empty.
	Namespace string

	// Level is the lowest level that is written: a [Level], or a [*LevelVar] to
	// change it later. Nil means LevelInfo.
	Level Leveler

	// Format is the format of the lines. The zero value is FormatJSON.
	Format Format

	// MaxEventBytes limits the length of a line, newline included. Zero means
	// 16 KiB, because container runtimes split longer lines. Values below 512
	// mean 512, which an event needs to say that it was cut. FormatHuman may be
	// longer.
	MaxEventBytes int

	// Redact lists keys with secret values. A to Z match in upper and lower
	// case. A key with dots or brackets matches by its last part: token of
	// user.token and user[token]. New panics if an entry is a path or a pattern,
	// such as *.token, because it would match nothing: see [CheckRedactKey]. The value "[redacted]" is written instead, for fields at any depth,
	// fields of errors, members of values encoded by Any, and parameters in the
	// query of a request, a referer, a [url.URL], or the URL of a [url.Error]. If
	// the list is not empty, user and password in these URLs are hidden too. Nothing else is searched: not the
	// name of the event, auth, paths, or a text that contains a secret.
	Redact []string

	// Sampling limits events that occur too often. Nil writes all events.
	// Loggers may share a Sampling.
	Sampling *Sampling

	// Context adds data from a context to an event, such as the ids of the
	// current OpenTelemetry span: see package log/otellog. [Event.Context] and
	// the handler of [Logger.Handler] call it, concurrently from many
	// goroutines. It must not keep the event. If it panics, the field "context"
	// has the reason. Nil adds nothing.
	Context func(context.Context, Event)

	// OnError receives the error if a line could not be written. It is called
	// in the goroutine that called Send, and therefore concurrently. With nil,
	// only the writer can count errors. It must neither panic nor log to the
	// same logger. In a program built with the race detector it also receives
	// calls on ended events.
	OnError func(error)
}

const (
	defaultMaxEventBytes = 16 << 10
	leastMaxEventBytes   = 512
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
	groups     int    // groups that stay open to the end of data
	prefix     []byte // for LTSV: the label prefix of these groups
	errorList  []byte
	firstError int
	stacks     bool
	callers    bool

	traceID, spanID string // as passed to With
}

// New returns a Logger that writes each event to w as one line. Each line is
// one call of Write. The calls do not overlap, except for files and
// connections, which keep lines whole themselves. See [EventWriter] for writers
// that need levels. A nil w discards everything. w must not log to the same
// Logger, because it would wait for itself.
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
		if e.groups = l.groups; len(l.prefix) > 0 {
			e.prefix = append(e.prefix, l.prefix...)
		}
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
		groups: e.groups, prefix: slices.Clone(e.prefix),
		errorList: slices.Clone(e.errorList), firstError: e.firstError,
		stacks: e.stacks, callers: e.callers,
	}
}
