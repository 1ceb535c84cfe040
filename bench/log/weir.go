package log

import (
	"io"
	"time"

	"github.com/weirhq/weir/log"
)

func openWeir(w io.Writer) logger {
	l := log.New(w, log.Options{Namespace: namespace})
	return logger{
		three:       weirApart(l),
		threeEvents: func(r *request) { weirThree(l, r) },
		static:      func() { l.Info(filtered).Send() },
		tenFields:   func(f *fields) { weirTen(l.Info(filtered), f).Send() },
		disabled: func(n int, f *fields) {
			for range n {
				l.Debug(filtered).
					Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension",
					f.Dimension).
					Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
					Bool("cached", f.Cached).Dur("took", f.Took).
					Send()
			}
		},
		asked: func(n int, f *fields) {
			for range n {
				if l.Enabled(log.LevelDebug) {
					weirTen(l.Debug(filtered), f).Send()
				}
			}
		},
		carrying: func(f *fields) func() {
			l := weirTen(l.With(), f).Logger()
			return func() { l.Info(filtered).Send() }
		},
		escaped: func(t *texts) {
			l.Info(searched).Str("agent", t.Agent).Str("query", t.Query).Str("title", t.Title).Str("lines", t.Lines).
				Str("markup", t.Markup).Str("file", t.File).Send()
		},
		failed: func(err *traced) { l.Error(failed).Err(err).Send() },
	}
}

// weirThree fills one HTTP for all three events, like the front door.
func weirThree(l *log.Logger, r *request) {
	http := weirHTTP(r)
	weirReceived(l, r, &http)
	weirProxying(l, r, &http)
	weirCompleted(l, r, &http)
}

// weirApart fills one HTTP for each event.
func weirApart(l *log.Logger) Three {
	apart := func(event func(*log.Logger, *request, *log.HTTP)) func(*request) {
		return func(r *request) {
			http := weirHTTP(r)
			event(l, r, &http)
		}
	}
	return Three{apart(weirReceived), apart(weirProxying), apart(weirCompleted)}
}

func weirHTTP(r *request) log.HTTP {
	return log.HTTP{Method: r.Method, Scheme: r.Scheme, Host: r.Host, Port: r.Port, Path: r.Path, Query: r.Query}
}

// The first and the last event use given times, like those of the front door.
func weirReceived(l *log.Logger, r *request, http *log.HTTP) {
	http.StartedAt = r.StartedAt
	l.Info(received).At(r.StartedAt).TraceID(traceID).HTTP(http).Send()
	http.StartedAt = time.Time{}
}

func weirProxying(l *log.Logger, r *request, http *log.HTTP) {
	l.Info(proxying).TraceID(traceID).HTTP(http).Str("destination", r.Destination).Str("proxy_name", r.Proxy).Send()
}

func weirCompleted(l *log.Logger, r *request, http *log.HTTP) {
	http.StartedAt = r.StartedAt
	http.StatusCode, http.EndedAt, http.Duration = r.StatusCode, r.EndedAt, r.EndedAt.Sub(r.StartedAt)
	http.ResponseContentLength = r.ContentLength
	l.Info(completed).At(r.EndedAt).TraceID(traceID).HTTP(http).Send()
}

func weirTen(e log.Event, f *fields) log.Event {
	return e.Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension",
		f.Dimension).
		Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
		Bool("cached", f.Cached).Dur("took", f.Took)
}
