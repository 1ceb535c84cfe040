package log

import (
	"io"
	"path"
	"strconv"
	"time"

	"github.com/rs/zerolog"
)

// openZerolog encodes the namespace once in the logger's context. Nested objects marshal themselves into the event's
// buffer, and the first event of a request uses a given time.
func openZerolog(w io.Writer) logger {
	setZerolog()
	timeless := zerolog.New(w).Level(zerolog.InfoLevel).With().Str("namespace", namespace).Logger()
	l := timeless.With().Timestamp().Logger()
	three := Three{
		func(r *request) {
			timeless.Info().Time("created_at", r.StartedAt).Str("trace_id", traceID).Object("http",
				(*zerologReceived)(r)).Msg(received)
		},
		func(r *request) {
			l.Info().Str("trace_id", traceID).Object("http", (*zerologProxying)(r)).Object("data",
				(*zerologTarget)(r)).Msg(proxying)
		},
		func(r *request) {
			timeless.Info().Time("created_at", r.EndedAt).Str("trace_id", traceID).Object("http",
				(*zerologCompleted)(r)).Msg(completed)
		},
	}
	return logger{
		three:       three,
		threeEvents: three.all,
		static:      func() { l.Info().Msg(filtered) },
		tenFields:   func(f *fields) { zerologTen(l.Info(), f).Msg(filtered) },
		disabled: func(n int, f *fields) {
			for range n {
				l.Debug().
					Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension",
					f.Dimension).
					Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
					Bool("cached", f.Cached).Dur("took", f.Took).
					Msg(filtered)
			}
		},
		asked: func(n int, f *fields) {
			for range n {
				if e := l.Debug(); e.Enabled() {
					zerologTen(e, f).Msg(filtered)
				}
			}
		},
		carrying: func(f *fields) func() {
			l := l.With().
				Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension",
				f.Dimension).
				Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
				Bool("cached", f.Cached).Dur("took", f.Took).
				Logger()
			return func() { l.Info().Msg(filtered) }
		},
		escaped: func(t *texts) {
			l.Info().Str("agent", t.Agent).Str("query", t.Query).Str("title", t.Title).Str("lines", t.Lines).
				Str("markup", t.Markup).Str("file", t.File).Msg(searched)
		},
		failed: func(err *traced) { l.Error().Stack().Err(err).Msg(failed) },
	}
}

// setZerolog sets the names, the time format and the stack function, which zerolog stores in package variables.
func setZerolog() {
	zerolog.TimestampFieldName = "created_at"
	zerolog.TimeFieldFormat = time.RFC3339Nano
	zerolog.TimestampFunc = func() time.Time { return time.Now().UTC() }
	zerolog.MessageFieldName = "event"
	zerolog.DurationFieldUnit = time.Nanosecond
	zerolog.DurationFieldInteger = true
	zerolog.ErrorStackMarshaler = zerologStack
}

// openZerologFrames writes the frames as an array of objects, without the maps of a marshaler and encoding/json.
func openZerologFrames(w io.Writer) logger {
	l := openZerolog(w)
	events := zerolog.New(w).Level(zerolog.InfoLevel).With().Timestamp().Str("namespace", namespace).Logger()
	l.failed = func(err *traced) { events.Error().Array("stack", (*zerologFrames)(err)).Err(err).Msg(failed) }
	return l
}

func zerologTen(e *zerolog.Event, f *fields) *zerolog.Event {
	return e.
		Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension", f.Dimension).
		Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
		Bool("cached", f.Cached).Dur("took", f.Took)
}

type (
	zerologReceived  request
	zerologProxying  request
	zerologCompleted request
	zerologTarget    request
	zerologFrames    traced
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
	e.Int("status_code", status).Str("method", r.Method).Str("scheme", r.Scheme).Str("host",
		r.Host).Int("port", r.Port).
		Str("path", r.Path).Str("query", r.Query)
}

func (e *zerologFrames) MarshalZerologArray(a *zerolog.Array) {
	for f := range (*traced)(e).frames() {
		a.Dict(zerolog.Dict().Str("file", f.File).Int("line", f.Line).Str("function", f.Function))
	}
}

// zerologStack returns the same as zerolog's package pkgerrors for errors of github.com/pkg/errors.
func zerologStack(err error) any {
	traced, ok := err.(*traced)
	if !ok {
		return nil
	}
	var out []map[string]string
	for f := range traced.frames() {
		out = append(out, map[string]string{"source": path.Base(f.File), "line": strconv.Itoa(f.Line),
			"func": f.Function})
	}
	return out
}
