// Package logr writes the messages of [github.com/go-logr/logr], which
// Kubernetes controllers and their libraries use, as events of a Logger of
// package log:
//
//	ctrl.SetLogger(logr.New(logger))
//
// It is a module of its own, so that package log does not depend on logr.
//
//   - The message becomes the event. Keys and values become fields of data,
//     each value written as by [log.Event.Any]. If a value has a MarshalLog
//     method, as defined by logr, its result is written instead.
//   - V(0) is info and every greater V is debug. The format has no more levels,
//     so enabling debug enables all of them.
//   - Error is of level error, with the error, its stack and its fields in the
//     event's errors. It does not depend on the verbosity. Only a logger of
//     level fatal drops it.
//   - Names are joined by "/" into the field "logger".
//   - The values of WithValues and WithName are encoded once.
//   - If the logger was made by With().Caller(), "caller" is the place of the
//     call of Info or Error, or the place that WithCallDepth selects.
//   - A key without a value gets "<no-value>", and a key that is not a string
//     becomes "<non-string-key: TEXT>", as in logr's own funcr.
//   - Records from [github.com/go-logr/logr.ToSlogHandler] keep their groups,
//     level and caller. However, a logger of level warn loses their warnings,
//     because that handler checks V(0) first; [log.Logger.Handler] does not.
package logr

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/go-logr/logr"

	"github.com/weirhq/weir/log"
)

// New returns a logr.Logger that writes to logger; nil discards everything. It
// is safe for concurrent use, and so are the loggers derived from it.
func New(logger *log.Logger) logr.Logger {
	h := logger.Handler()
	return logr.New(&sink{handler: h, unnamed: h})
}

// A sink is a logr.LogSink. It uses log's handler for slog instead of log's
// methods, because a slog.Record can have the place of the call.
type sink struct {
	handler slog.Handler
	name    string
	unnamed slog.Handler // handler without the field "logger"
	depth   int          // number of calls between the caller and Info or Error
}

var (
	_ logr.SlogSink         = (*sink)(nil)
	_ logr.CallDepthLogSink = (*sink)(nil)
)

// Init implements logr.LogSink.
func (s *sink) Init(info logr.RuntimeInfo) { s.depth = info.CallDepth }

// Enabled implements logr.LogSink.
func (s *sink) Enabled(v int) bool { return s.handler.Enabled(context.Background(), levelOf(v)) }

// levelOf returns the level of a verbosity. Everything below info is debug in
// package log.
func levelOf(v int) slog.Level { return slog.LevelInfo - slog.Level(v) }

// Info implements logr.LogSink.
func (s *sink) Info(v int, msg string, keysAndValues ...any) {
	s.log(levelOf(v), msg, nil, keysAndValues)
}

// Error implements logr.LogSink.
func (s *sink) Error(err error, msg string, keysAndValues ...any) {
	s.log(slog.LevelError, msg, err, keysAndValues)
}

func (s *sink) log(level slog.Level, msg string, err error, keysAndValues []any) {
	const callerOfInfo = 3
	var pc [1]uintptr
	runtime.Callers(callerOfInfo+s.depth, pc[:])
	r := slog.NewRecord(time.Time{}, level, msg, pc[0]) // the zero time means the time of the line
	var scratch [8]slog.Attr
	attrs := scratch[:0]
	if err != nil {
		attrs = append(attrs, slog.Any("err", err)) // the key of errors in package log
	}
	r.AddAttrs(appendAttrs(attrs, keysAndValues)...)
	_ = s.handler.Handle(context.Background(), r) // log.Options.OnError receives the error
}

// WithValues implements logr.LogSink.
func (s *sink) WithValues(keysAndValues ...any) logr.LogSink {
	return s.WithAttrs(appendAttrs(nil, keysAndValues))
}

// WithName implements logr.LogSink.
func (s *sink) WithName(name string) logr.LogSink {
	derived := *s
	if s.name != "" {
		name = s.name + "/" + name
	}
	derived.name = name
	derived.handler = s.unnamed.WithAttrs([]slog.Attr{slog.String("logger", name)})
	return &derived
}

// WithCallDepth implements logr.CallDepthLogSink.
func (s *sink) WithCallDepth(depth int) logr.LogSink {
	derived := *s
	derived.depth += depth
	return &derived
}

// Handle implements logr.SlogSink.
func (s *sink) Handle(ctx context.Context, r slog.Record) error { return s.handler.Handle(ctx, r) }

// WithAttrs implements logr.SlogSink.
func (s *sink) WithAttrs(attrs []slog.Attr) logr.SlogSink {
	return s.derive(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

// WithGroup implements logr.SlogSink.
func (s *sink) WithGroup(name string) logr.SlogSink {
	return s.derive(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (s *sink) derive(with func(slog.Handler) slog.Handler) *sink {
	derived := *s
	derived.handler = with(s.handler)
	if derived.unnamed = derived.handler; s.name != "" {
		derived.unnamed = with(s.unnamed)
	}
	return &derived
}

// appendAttrs appends alternating keys and values.
func appendAttrs(attrs []slog.Attr, keysAndValues []any) []slog.Attr {
	for i := 0; i < len(keysAndValues); i += 2 {
		key, ok := keysAndValues[i].(string)
		if !ok {
			key = fmt.Sprintf("<non-string-key: %.16s>", fmt.Sprint(keysAndValues[i]))
		}
		if i+1 == len(keysAndValues) {
			return append(attrs, slog.String(key, "<no-value>"))
		}
		attrs = append(attrs, slog.Attr{Key: key, Value: valueOf(keysAndValues[i+1])})
	}
	return attrs
}

func valueOf(v any) slog.Value {
	if m, ok := v.(logr.Marshaler); ok {
		return slog.AnyValue(marshaler{m})
	}
	return slog.AnyValue(v)
}

// A marshaler is a slog.LogValuer, so that MarshalLog is not called for a
// disabled event.
type marshaler struct{ logr.Marshaler }

// LogValue implements slog.LogValuer.
func (m marshaler) LogValue() (v slog.Value) {
	defer func() {
		if p := recover(); p != nil {
			v = slog.StringValue(fmt.Sprintf("!ERROR: panic: %v", p))
		}
	}()
	return slog.AnyValue(m.MarshalLog())
}
