package log

import (
	"io"
	"time"

	phuslu "github.com/phuslu/log"
)

// openPhuslu: its documentation strongly recommends an empty TimeFormat, which makes created_at precise to the
// millisecond and not, as everyone else's, to the nanosecond: it has a row for each. Its message key is a package
// variable.
func openPhuslu(w io.Writer, timeFormat string) logger {
	phuslu.MessageKey = "event"
	l := &phuslu.Logger{
		Level:        phuslu.InfoLevel,
		TimeField:    "created_at",
		TimeFormat:   timeFormat,
		TimeLocation: time.UTC,
		Context:      phuslu.NewContext(nil).Str("namespace", namespace).Value(),
		Writer:       phuslu.IOWriter{Writer: w},
	}
	return logger{
		threeEvents: func(r *request) {
			l.Info().Str("trace_id", traceID).Object("http", (*phusluReceived)(r)).Msg(received)
			l.Info().Str("trace_id", traceID).Object("http", (*phusluProxying)(r)).Object("data", (*phusluTarget)(r)).Msg(proxying)
			l.Info().Str("trace_id", traceID).Object("http", (*phusluCompleted)(r)).Msg(completed)
		},
		tenFields: func(f *fields) {
			l.Info().
				Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension", f.Dimension).
				Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
				Bool("cached", f.Cached).Int64("took", int64(f.Took)).
				Msg("dataset filtered")
		},
		disabled: func() { l.Debug().Str("trace_id", traceID).Msg(received) },
	}
}

type (
	phusluReceived  request
	phusluProxying  request
	phusluCompleted request
	phusluTarget    request
)

func (r *phusluReceived) MarshalObject(e *phuslu.Entry) {
	phusluRequest(e, 0, (*request)(r))
	e.TimeFormat("started_at", time.RFC3339Nano, r.StartedAt)
}

func (r *phusluProxying) MarshalObject(e *phuslu.Entry) {
	phusluRequest(e, 0, (*request)(r))
}

func (r *phusluCompleted) MarshalObject(e *phuslu.Entry) {
	phusluRequest(e, r.StatusCode, (*request)(r))
	e.TimeFormat("started_at", time.RFC3339Nano, r.StartedAt).TimeFormat("ended_at", time.RFC3339Nano, r.EndedAt).
		Int64("duration", int64(r.EndedAt.Sub(r.StartedAt))).Int64("response_content_length", r.ContentLength)
}

func (r *phusluTarget) MarshalObject(e *phuslu.Entry) {
	e.Str("destination", r.Destination).Str("proxy_name", r.Proxy)
}

func phusluRequest(e *phuslu.Entry, status int, r *request) {
	e.Int("status_code", status).Str("method", r.Method).Str("scheme", r.Scheme).Str("host", r.Host).Int("port", r.Port).
		Str("path", r.Path).Str("query", r.Query)
}
