// Package logr lets what logs through [github.com/go-logr/logr], as controllers
// of Kubernetes and their libraries do, write the events of a Logger of package
// log:
//
//	ctrl.SetLogger(logr.New(logger))
//
// It is a module of its own, so that package log does not depend on logr.
//
//   - The message becomes the event; keys and values become fields of data, each
//     value written as [log.Event.Any] writes it. One that has a MarshalLog
//     method, as logr defines it, is written as what that returns.
//   - V(0) is info, every greater V is debug: the format has no more levels, so
//     whoever enables debug gets all of them.
//   - Error is of level error, with the error, its stack and its fields among the
//     event's errors. It is written whatever the verbosity, unless the logger's
//     level is fatal.
//   - Names are joined by "/" into the field "logger".
//   - What WithValues and WithName add is encoded once.
//   - A logger made by With().Caller() has "caller" name the call of Info or
//     Error, or the one that WithCallDepth points to.
//   - A key without a value gets "<no-value>", and a key that is no string becomes
//     "<non-string-key: TEXT>", as in logr's own funcr.
//   - What goes through [github.com/go-logr/logr.ToSlogHandler] keeps its groups,
//     level and caller. A logger of level warn loses the warnings, though, since
//     that asks for V(0) before it writes them; [log.Logger.Handler] does not.
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

// New returns a logr.Logger that writes to logger; nil discards everything.
// Many goroutines may use it, and those derived from it, at once.
func New(logger *log.Logger) logr.Logger {
	h := logger.Handler()
	return logr.New(&sink{handler: h, unnamed: h})
}

// A sink is a logr.LogSink. It stands on log's handler for slog, not on log's
// methods, since a record can say which call it is of.
type sink struct {
	handler slog.Handler
	name    string
	unnamed slog.Handler // handler, if it had not been told the name
	depth   int          // calls between the one that logs and Info or Error
}

var (
	_ logr.SlogSink         = (*sink)(nil)
	_ logr.CallDepthLogSink = (*sink)(nil)
)

// Init implements logr.LogSink.
func (s *sink) Init(info logr.RuntimeInfo) { s.depth = info.CallDepth }

// Enabled implements logr.LogSink.
func (s *sink) Enabled(v int) bool { return s.handler.Enabled(context.Background(), levelOf(v)) }

// levelOf returns the level of that verbosity. What is below info is debug to
// log.
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
	r := slog.NewRecord(time.Time{}, level, msg, pc[0]) // without a time: that of the line
	var scratch [8]slog.Attr
	attrs := scratch[:0]
	if err != nil {
		attrs = append(attrs, slog.Any("err", err)) // log's key for errors
	}
	r.AddAttrs(appendAttrs(attrs, keysAndValues)...)
	_ = s.handler.Handle(context.Background(), r) // log.Options.OnError is told
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

// appendAttrs appends pairs of a key and a value.
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

// A marshaler is a slog.LogValuer: MarshalLog is not called for an event that is
// not written.
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
