package log

import (
	"io"
	"runtime"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// openZap uses the typed fields of zap.Logger, without sugar, caller and sampling. It calls Check before it builds the
// fields of an event that may be below the level or has a given time.
func openZap(w io.Writer) logger {
	l := newZap(w)
	trace := func() zap.Field { return zap.String("trace_id", traceID) }
	at := func(t time.Time, event string, fields ...zap.Field) {
		if ce := l.Check(zap.InfoLevel, event); ce != nil {
			ce.Time = t
			ce.Write(fields...)
		}
	}
	three := Three{
		func(r *request) { at(r.StartedAt, received, trace(), zap.Object("http", (*zapReceived)(r))) },
		func(r *request) {
			l.Info(proxying, trace(), zap.Object("http", (*zapProxying)(r)), zap.Object("data", (*zapTarget)(r)))
		},
		func(r *request) { at(r.EndedAt, completed, trace(), zap.Object("http", (*zapCompleted)(r))) },
	}
	return logger{
		three:       three,
		threeEvents: three.all,
		static:      func() { l.Info(filtered) },
		tenFields:   func(f *fields) { l.Info(filtered, zapTen(f)...) },
		asked: func(n int, f *fields) {
			for range n {
				if ce := l.Check(zap.DebugLevel, filtered); ce != nil {
					ce.Write(zapTen(f)...)
				}
			}
		},
		carrying: func(f *fields) func() {
			l := l.With(zapTen(f)...)
			return func() { l.Info(filtered) }
		},
		escaped: func(t *texts) {
			l.Info(searched, zap.String("agent", t.Agent), zap.String("query", t.Query), zap.String("title", t.Title),
				zap.String("lines", t.Lines), zap.String("markup", t.Markup), zap.String("file", t.File))
		},
		failed: func(err *traced) { l.Error(failed, zap.Error(err)) },
	}
}

func newZap(w io.Writer) *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey:        "created_at",
		MessageKey:     "event",
		LevelKey:       "level",
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeTime:     zapcore.RFC3339NanoTimeEncoder,
		EncodeDuration: zapcore.NanosDurationEncoder,
	})
	core := zapcore.NewCore(encoder, zapcore.AddSync(w), zapcore.InfoLevel)
	return zap.New(core, zap.WithClock(utcClock{}), zap.Fields(zap.String("namespace", namespace)))
}

// openZapFrames writes the frames as an array of objects, without %+v.
func openZapFrames(w io.Writer) logger {
	l := newZap(w)
	return logger{failed: func(err *traced) {
		l.Error(failed, zap.String("error", err.Error()), zap.Array("stack", (*zapFrames)(err)))
	}}
}

func zapTen(f *fields) []zap.Field {
	return []zap.Field{
		zap.String("dataset", f.Dataset), zap.String("edition", f.Edition), zap.String("version", f.Version),
		zap.String("dimension", f.Dimension), zap.Int("rows", f.Rows), zap.Int("attempt", f.Attempt),
		zap.Int64("bytes", f.Bytes), zap.Float64("ratio", f.Ratio), zap.Bool("cached", f.Cached),
		zap.Duration("took", f.Took),
	}
}

type utcClock struct{}

func (utcClock) Now() time.Time                         { return time.Now().UTC() }
func (utcClock) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

type (
	zapReceived  request
	zapProxying  request
	zapCompleted request
	zapTarget    request
	zapFrames    traced
	zapFrame     runtime.Frame
)

func (r *zapReceived) MarshalLogObject(e zapcore.ObjectEncoder) error {
	zapRequest(e, 0, (*request)(r))
	e.AddTime("started_at", r.StartedAt)
	return nil
}

func (r *zapProxying) MarshalLogObject(e zapcore.ObjectEncoder) error {
	zapRequest(e, 0, (*request)(r))
	return nil
}

func (r *zapCompleted) MarshalLogObject(e zapcore.ObjectEncoder) error {
	zapRequest(e, r.StatusCode, (*request)(r))
	e.AddTime("started_at", r.StartedAt)
	e.AddTime("ended_at", r.EndedAt)
	e.AddDuration("duration", r.EndedAt.Sub(r.StartedAt))
	e.AddInt64("response_content_length", r.ContentLength)
	return nil
}

func (r *zapTarget) MarshalLogObject(e zapcore.ObjectEncoder) error {
	e.AddString("destination", r.Destination)
	e.AddString("proxy_name", r.Proxy)
	return nil
}

func zapRequest(e zapcore.ObjectEncoder, status int, r *request) {
	e.AddInt("status_code", status)
	e.AddString("method", r.Method)
	e.AddString("scheme", r.Scheme)
	e.AddString("host", r.Host)
	e.AddInt("port", r.Port)
	e.AddString("path", r.Path)
	e.AddString("query", r.Query)
}

func (e *zapFrames) MarshalLogArray(a zapcore.ArrayEncoder) error {
	for f := range (*traced)(e).frames() {
		if err := a.AppendObject((*zapFrame)(&f)); err != nil {
			return err
		}
	}
	return nil
}

func (f *zapFrame) MarshalLogObject(e zapcore.ObjectEncoder) error {
	e.AddString("file", f.File)
	e.AddInt("line", f.Line)
	e.AddString("function", f.Function)
	return nil
}
