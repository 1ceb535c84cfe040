package log

import (
	"context"
	"sync/atomic"
)

type contextKey struct{}

// Into returns a context that carries the logger, for [From], in place of one
// that ctx may carry. With nil, events go nowhere.
func Into(ctx context.Context, l *Logger) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From returns the logger that [Into] gave to the context, or one that it came
// from: mostly that of a request, with its trace id. Without one it returns the
// logger of [SetDefault].
func From(ctx context.Context) *Logger {
	if l, ok := ctx.Value(contextKey{}).(*Logger); ok {
		return l
	}
	return defaultLogger.Load()
}

var defaultLogger atomic.Pointer[Logger]

// SetDefault sets the logger that [From] returns for a context without one. At
// first it is nil, which discards everything. Call it in main, before the code
// that uses From starts; a library must not call it. Many goroutines may call
// SetDefault and From at once; loggers that From has returned stay the same.
func SetDefault(l *Logger) { defaultLogger.Store(l) }

// Context adds the facts of a context to the event: the trace id and the span id
// of the logger that [Into] gave to it, in place of the ones before, and then
// whatever [Options.Context] adds. Nil and context.Background() change nothing.
//
// In [Logger.With] it adds them to each event of the new Logger. Events of a
// [Logger.Handler] need no call: the handler makes it with the context that
// slog passes.
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
