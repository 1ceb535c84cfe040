package log

import (
	"context"
	"sync/atomic"
)

type contextKey struct{}

// Into returns a context with the logger, for [From]. It replaces the logger of
// ctx. If the logger is nil, events are discarded.
func Into(ctx context.Context, l *Logger) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From returns the logger that [Into] has added to the context or to one of its
// parents, usually the logger of a request with its trace id. Without one it
// returns the logger of [SetDefault].
func From(ctx context.Context) *Logger {
	if l, ok := ctx.Value(contextKey{}).(*Logger); ok {
		return l
	}
	return defaultLogger.Load()
}

var defaultLogger atomic.Pointer[Logger]

// SetDefault sets the logger that [From] returns for a context without one. The
// initial value is nil, which discards everything. Call it in main, before code
// that uses From starts; a library must not call it. SetDefault and From are
// safe for concurrent use. Loggers that From has returned do not change.
func SetDefault(l *Logger) { defaultLogger.Store(l) }

// Context adds data from a context to the event: the trace id and span id of
// the logger that [Into] has added to it, in place of earlier ones, and the
// data that [Options.Context] adds. Nil and context.Background() change
// nothing.
//
// In [Logger.With] it adds them to each event of the new Logger. The events of
// a [Logger.Handler] need no call: the handler passes the context that it gets
// from slog.
func (e Event) Context(ctx context.Context) Event {
	if e.isOpen() {
		e.open.context(ctx)
	}
	return e
}

func (e *openEvent) context(ctx context.Context) {
	if ctx == nil || ctx == context.Background() {
		return
	}
	reason := e.try(func(e Event) error {
		if l, _ := ctx.Value(contextKey{}).(*Logger); l != nil && l != e.open.logger {
			e.TraceID(l.traceID).SpanID(l.spanID)
			if l.hold != nil {
				e.Hold(l.hold)
			}
		}
		if hook := e.open.out.context; hook != nil {
			hook(ctx, e)
		}
		return nil
	})
	if reason != "" && e.key("context") {
		e.addFault(reason)
	}
}
