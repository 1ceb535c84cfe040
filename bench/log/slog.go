package log

import (
	"context"
	"io"
	"log/slog"
	"time"
)

// openSlog uses LogAttrs with typed attributes, the fastest function of the package, and a Record if the time is given.
// The keys time, level and msg are kept: a ReplaceAttr to rename them is called for every attribute and would distort
// the comparison.
func openSlog(w io.Writer) logger {
	l := slog.New(slog.NewJSONHandler(w, nil)).With(slog.String("namespace", namespace))
	ctx := context.Background()
	trace := func() slog.Attr { return slog.String("trace_id", traceID) }
	at := func(t time.Time, event string, attrs ...slog.Attr) {
		if h := l.Handler(); h.Enabled(ctx, slog.LevelInfo) {
			record := slog.NewRecord(t, slog.LevelInfo, event, 0)
			record.AddAttrs(attrs...)
			h.Handle(ctx, record)
		}
	}
	three := Three{
		func(r *request) { at(r.StartedAt, received, trace(), slogReceived(r)) },
		func(r *request) {
			l.LogAttrs(ctx, slog.LevelInfo, proxying, trace(), slogProxying(r),
				slog.GroupAttrs("data", slog.String("destination", r.Destination), slog.String("proxy_name", r.Proxy)))
		},
		func(r *request) { at(r.EndedAt, completed, trace(), slogCompleted(r)) },
	}
	return logger{
		three:       three,
		threeEvents: three.all,
		static:      func() { l.LogAttrs(ctx, slog.LevelInfo, filtered) },
		tenFields: func(f *fields) {
			l.LogAttrs(ctx, slog.LevelInfo, filtered,
				slog.String("dataset", f.Dataset), slog.String("edition", f.Edition), slog.String("version", f.Version),
				slog.String("dimension", f.Dimension), slog.Int("rows", f.Rows), slog.Int("attempt", f.Attempt),
				slog.Int64("bytes", f.Bytes), slog.Float64("ratio", f.Ratio), slog.Bool("cached", f.Cached),
				slog.Duration("took", f.Took))
		},
		disabled: func(n int, f *fields) {
			for range n {
				l.LogAttrs(ctx, slog.LevelDebug, filtered,
					slog.String("dataset", f.Dataset), slog.String("edition", f.Edition),
					slog.String("version", f.Version),
					slog.String("dimension", f.Dimension), slog.Int("rows", f.Rows), slog.Int("attempt", f.Attempt),
					slog.Int64("bytes", f.Bytes), slog.Float64("ratio", f.Ratio), slog.Bool("cached", f.Cached),
					slog.Duration("took", f.Took))
			}
		},
		asked: func(n int, f *fields) {
			for range n {
				if l.Enabled(ctx, slog.LevelDebug) {
					l.LogAttrs(ctx, slog.LevelDebug, filtered, append(slogFirst(f), slogSecond(f)...)...)
				}
			}
		},
		carrying: func(f *fields) func() {
			l := slog.New(l.Handler().WithAttrs(append(slogFirst(f), slogSecond(f)...)))
			return func() { l.LogAttrs(ctx, slog.LevelInfo, filtered) }
		},
		escaped: func(t *texts) {
			l.LogAttrs(ctx, slog.LevelInfo, searched, slog.String("agent", t.Agent), slog.String("query", t.Query),
				slog.String("title", t.Title), slog.String("lines", t.Lines), slog.String("markup", t.Markup),
				slog.String("file", t.File))
		},
	}
}

// slogFirst and slogSecond return the ten fields, for loggers that carry them.
func slogFirst(f *fields) []slog.Attr {
	return []slog.Attr{
		slog.String("dataset", f.Dataset), slog.String("edition", f.Edition), slog.String("version", f.Version),
		slog.String("dimension", f.Dimension), slog.Bool("cached", f.Cached),
	}
}

func slogSecond(f *fields) []slog.Attr {
	return []slog.Attr{
		slog.Int("rows", f.Rows), slog.Int("attempt", f.Attempt), slog.Int64("bytes", f.Bytes), slog.Float64("ratio",
			f.Ratio),
		slog.Duration("took", f.Took),
	}
}

func slogReceived(r *request) slog.Attr {
	return slog.GroupAttrs("http", slog.Int("status_code", 0), slog.String("method", r.Method),
		slog.String("scheme", r.Scheme),
		slog.String("host", r.Host), slog.Int("port", r.Port), slog.String("path", r.Path),
		slog.String("query", r.Query),
		slog.Time("started_at", r.StartedAt))
}

func slogProxying(r *request) slog.Attr {
	return slog.GroupAttrs("http", slog.Int("status_code", 0), slog.String("method", r.Method),
		slog.String("scheme", r.Scheme),
		slog.String("host", r.Host), slog.Int("port", r.Port), slog.String("path", r.Path),
		slog.String("query", r.Query))
}

func slogCompleted(r *request) slog.Attr {
	return slog.GroupAttrs("http", slog.Int("status_code", r.StatusCode), slog.String("method", r.Method),
		slog.String("scheme", r.Scheme),
		slog.String("host", r.Host), slog.Int("port", r.Port), slog.String("path", r.Path),
		slog.String("query", r.Query),
		slog.Time("started_at", r.StartedAt), slog.Time("ended_at", r.EndedAt), slog.Duration("duration",
			r.EndedAt.Sub(r.StartedAt)),
		slog.Int64("response_content_length", r.ContentLength))
}
