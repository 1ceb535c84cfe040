package log

import "context"

type contextKey struct{}

// Into returns a context that carries the logger, for [From], in place of one
// that ctx may carry. With nil, events go nowhere.
func Into(ctx context.Context, l *Logger) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From returns the logger that [Into] gave to the context, or one that it came
// from: mostly that of a request, with its trace id. Without one it is nil,
// which discards everything.
func From(ctx context.Context) *Logger {
	l, _ := ctx.Value(contextKey{}).(*Logger)
	return l
}
