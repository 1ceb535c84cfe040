package log

import (
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// openZap: the typed fields of zap.Logger (not the sugared ones), no caller, no sampling; Check before the fields of an
// event that may be below the level.
func openZap(w io.Writer) logger {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey:        "created_at",
		MessageKey:     "event",
		LevelKey:       "level",
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeTime:     zapcore.RFC3339NanoTimeEncoder,
		EncodeDuration: zapcore.NanosDurationEncoder,
	})
	core := zapcore.NewCore(encoder, zapcore.AddSync(w), zapcore.InfoLevel)
	l := zap.New(core, zap.WithClock(utcClock{}), zap.Fields(zap.String("namespace", namespace)))
	trace := func() zap.Field { return zap.String("trace_id", traceID) }
	return logger{
		threeEvents: func(r *request) {
			l.Info(received, trace(), zap.Object("http", (*zapReceived)(r)))
			l.Info(proxying, trace(), zap.Object("http", (*zapProxying)(r)), zap.Object("data", (*zapTarget)(r)))
			l.Info(completed, trace(), zap.Object("http", (*zapCompleted)(r)))
		},
		tenFields: func(f *fields) {
			l.Info("dataset filtered",
				zap.String("dataset", f.Dataset), zap.String("edition", f.Edition), zap.String("version", f.Version),
				zap.String("dimension", f.Dimension), zap.Int("rows", f.Rows), zap.Int("attempt", f.Attempt),
				zap.Int64("bytes", f.Bytes), zap.Float64("ratio", f.Ratio), zap.Bool("cached", f.Cached),
				zap.Duration("took", f.Took))
		},
		disabled: func() {
			if ce := l.Check(zap.DebugLevel, received); ce != nil {
				ce.Write(trace())
			}
		},
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
