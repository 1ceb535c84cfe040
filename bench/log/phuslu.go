package log

import (
	"fmt"
	"io"
	"time"

	phuslu "github.com/phuslu/log"
)

// openPhuslu uses a time format with the same precision as the other rows.
func openPhuslu(w io.Writer) logger {
	return openPhusluFormat(phuslu.IOWriter{Writer: w}, time.RFC3339Nano)
}

// openPhusluMillis uses the empty TimeFormat that phuslu/log's documentation strongly recommends. It makes created_at
// precise to the millisecond instead of the nanosecond.
func openPhusluMillis(w io.Writer) logger { return openPhusluFormat(phuslu.IOWriter{Writer: w}, "") }

// openPhusluFormat: the key of the message is a package variable. Every event reads the clock, because a given time
// cannot be used.
func openPhusluFormat(w phuslu.Writer, timeFormat string) logger {
	phuslu.MessageKey = "event"
	l := phuslu.Logger{
		Level:        phuslu.InfoLevel,
		TimeField:    "created_at",
		TimeFormat:   timeFormat,
		TimeLocation: time.UTC,
		Context:      phuslu.NewContext(nil).Str("namespace", namespace).Value(),
		Writer:       w,
	}
	three := Three{
		func(r *request) {
			l.Info().Str("trace_id", traceID).Object("http", (*phusluReceived)(r)).Msg(received)
		},
		func(r *request) {
			l.Info().Str("trace_id", traceID).Object("http", (*phusluProxying)(r)).Object("data",
				(*phusluTarget)(r)).Msg(proxying)
		},
		func(r *request) {
			l.Info().Str("trace_id", traceID).Object("http", (*phusluCompleted)(r)).Msg(completed)
		},
	}
	journal := three
	journal[1] = func(r *request) {
		l.Info().Str("trace_id", traceID).Object("http", (*phusluProxying)(r)).Object("data",
			(*phusluJournalTarget)(r)).Msg(proxying)
	}
	return logger{
		three:       three,
		journal:     journal,
		threeEvents: three.all,
		static:      func() { l.Info().Msg(filtered) },
		tenFields:   func(f *fields) { phusluTen(l.Info(), f).Msg(filtered) },
		disabled: func(n int, f *fields) {
			for range n {
				l.Debug().
					Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension",
					f.Dimension).
					Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
					Bool("cached", f.Cached).Int64("took", int64(f.Took)).
					Msg(filtered)
			}
		},
		carrying: func(f *fields) func() {
			l := l
			l.Context = phusluTen(phuslu.NewContext(l.Context), f).Value()
			return func() { l.Info().Msg(filtered) }
		},
		escaped: func(t *texts) {
			l.Info().Str("agent", t.Agent).Str("query", t.Query).Str("title", t.Title).Str("lines", t.Lines).
				Str("markup", t.Markup).Str("file", t.File).Msg(searched)
		},
		failed: func(err *traced) { l.Error().Str("stack", fmt.Sprintf("%+v", err)).Err(err).Msg(failed) },
	}
}

func phusluTen(e *phuslu.Entry, f *fields) *phuslu.Entry {
	return e.
		Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension", f.Dimension).
		Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
		Bool("cached", f.Cached).Int64("took", int64(f.Took))
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
	e.Int("status_code", status).Str("method", r.Method).Str("scheme", r.Scheme).Str("host",
		r.Host).Int("port", r.Port).
		Str("path", r.Path).Str("query", r.Query)
}
