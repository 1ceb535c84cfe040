package log

import (
	"io"
	"slices"

	"github.com/weirhq/weir/log/internal/text"
)

// Options are the settings of a [Logger]. The zero value is ready for use.
type Options struct {
	// Namespace is the name of the service, written into every event, empty
	// or not.
	Namespace string

	// Level is the lowest level that is written; zero is LevelInfo.
	Level Level

	// MaxEventBytes bounds the length of a line, newline included. Zero is
	// 16 KiB, beyond which container runtimes split lines. What is below 512,
	// the room that an event needs to say that it was cut, counts as 512.
	MaxEventBytes int

	// OnError is told why a line could not be written, in the goroutine that
	// called Send. Nil leaves it to the writer to keep count. It must not log
	// to the same logger.
	OnError func(error)
}

const (
	defaultMaxEventBytes = 16 << 10
	leastMaxEventBytes   = 512
)

// A Logger starts events. Many goroutines may use one at once. A nil Logger
// and the zero Logger discard everything.
type Logger struct {
	out   *output // nil: discard
	level Level
	head  []byte // room for created_at, then the namespace and the key of the event

	// What With put in: the parts of a line, encoded, and the last of them
	// that holds something.
	parts     [partCount][]byte
	lastPart  part
	errorList []byte
}

// New returns a Logger that writes one line for each event to w, each with a
// single Write and only one Write at a time; see [EventWriter] for writers
// that do better. A nil w discards everything.
func New(w io.Writer, o Options) *Logger {
	if w == nil {
		return &Logger{}
	}
	if o.MaxEventBytes == 0 {
		o.MaxEventBytes = defaultMaxEventBytes
	}
	o.MaxEventBytes = max(o.MaxEventBytes, leastMaxEventBytes)

	head := append(make([]byte, createdAtRoom), `,"namespace":`...)
	head = text.AppendString(head, clip(o.Namespace, o.MaxEventBytes))
	head = append(head, `,"event":`...)
	return &Logger{
		out:   newOutput(w, o.MaxEventBytes, o.OnError),
		level: o.Level,
		head:  head,
	}
}

// Enabled reports whether events of that level are written.
func (l *Logger) Enabled(level Level) bool {
	return l != nil && level >= l.level && l.out != nil
}

// Debug starts an event of [LevelDebug]. As with the other levels, the event
// is written by [Event.Send], and nil when the level is not enabled.
func (l *Logger) Debug(event string) *Event { return l.Log(LevelDebug, event) }

// Info starts an event of [LevelInfo].
func (l *Logger) Info(event string) *Event { return l.Log(LevelInfo, event) }

// Warn starts an event of [LevelWarn].
func (l *Logger) Warn(event string) *Event { return l.Log(LevelWarn, event) }

// Error starts an event of [LevelError].
func (l *Logger) Error(event string) *Event { return l.Log(LevelError, event) }

// Fatal starts an event of [LevelFatal]. To exit is left to the caller.
func (l *Logger) Fatal(event string) *Event { return l.Log(LevelFatal, event) }

// Log starts an event of a level that is known only when the program runs.
func (l *Logger) Log(level Level, event string) *Event {
	if !l.Enabled(level) {
		return nil
	}
	return l.start(level, event)
}

// With starts an event that is not for sending: what is added to it is encoded
// once, and [Event.Logger] returns a Logger that writes it with each of its
// events. It is nil for a logger that discards.
func (l *Logger) With() *Event {
	if l == nil || l.out == nil {
		return nil
	}
	e := l.start(LevelInfo, "")
	e.template = true
	return e
}

// start returns an event that holds all that l knows of it.
func (l *Logger) start(level Level, event string) *Event {
	e := takeEvent(l, level, l.out.maxEventBytes)
	e.buf = append(e.buf, l.head...)
	e.buf = text.AppendString(e.buf, clip(event, e.maxBytes))
	for p := partTraceID; p <= l.lastPart; p++ {
		if fixed := l.parts[p]; len(fixed) > 0 {
			e.advance(p)
			e.buf = append(e.buf, fixed...)
		}
	}
	e.errorList = append(e.errorList, l.errorList...)
	return e
}

// derive returns a Logger that carries what e holds.
func (l *Logger) derive(e *Event) *Logger {
	derived := &Logger{out: l.out, level: l.level, head: l.head}
	for p := partTraceID; p <= e.last; p++ {
		if p == partSeverity {
			continue // each event has its own
		}
		if fixed := e.buf[e.starts[p]:e.end(p)]; len(fixed) > 0 {
			derived.parts[p] = slices.Clone(fixed)
			derived.lastPart = p
		}
	}
	derived.errorList = slices.Clone(e.errorList)
	return derived
}
