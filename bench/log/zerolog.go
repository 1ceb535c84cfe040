package log

import (
	"io"
	"time"

	"github.com/rs/zerolog"
)

// openZerolog: the namespace is encoded once in the logger's context, nested objects marshal themselves into the
// event's own buffer. zerolog keeps the names and the time's format in package variables.
func openZerolog(w io.Writer) logger {
	zerolog.TimestampFieldName = "created_at"
	zerolog.TimeFieldFormat = time.RFC3339Nano
	zerolog.TimestampFunc = func() time.Time { return time.Now().UTC() }
	zerolog.MessageFieldName = "event"
	zerolog.DurationFieldUnit = time.Nanosecond
	zerolog.DurationFieldInteger = true
	l := zerolog.New(w).Level(zerolog.InfoLevel).With().Timestamp().Str("namespace", namespace).Logger()
	return logger{
		threeEvents: func(r *request) {
			l.Info().Str("trace_id", traceID).Object("http", (*zerologReceived)(r)).Msg(received)
			l.Info().Str("trace_id", traceID).Object("http", (*zerologProxying)(r)).Object("data", (*zerologTarget)(r)).Msg(proxying)
			l.Info().Str("trace_id", traceID).Object("http", (*zerologCompleted)(r)).Msg(completed)
		},
		tenFields: func(f *fields) {
			l.Info().
				Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension", f.Dimension).
				Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
				Bool("cached", f.Cached).Dur("took", f.Took).
				Msg("dataset filtered")
		},
		disabled: func() { l.Debug().Str("trace_id", traceID).Msg(received) },
	}
}

type (
	zerologReceived  request
	zerologProxying  request
	zerologCompleted request
	zerologTarget    request
)

func (r *zerologReceived) MarshalZerologObject(e *zerolog.Event) {
	zerologRequest(e, 0, (*request)(r))
	e.Time("started_at", r.StartedAt)
}

func (r *zerologProxying) MarshalZerologObject(e *zerolog.Event) {
	zerologRequest(e, 0, (*request)(r))
}

func (r *zerologCompleted) MarshalZerologObject(e *zerolog.Event) {
	zerologRequest(e, r.StatusCode, (*request)(r))
	e.Time("started_at", r.StartedAt).Time("ended_at", r.EndedAt).Dur("duration", r.EndedAt.Sub(r.StartedAt)).
		Int64("response_content_length", r.ContentLength)
}

func (r *zerologTarget) MarshalZerologObject(e *zerolog.Event) {
	e.Str("destination", r.Destination).Str("proxy_name", r.Proxy)
}

func zerologRequest(e *zerolog.Event, status int, r *request) {
	e.Int("status_code", status).Str("method", r.Method).Str("scheme", r.Scheme).Str("host", r.Host).Int("port", r.Port).
		Str("path", r.Path).Str("query", r.Query)
}
