package log

import (
	"io"
	"time"

	weir "github.com/weirhq/weir/log"
)

func openWeir(w io.Writer) logger {
	l := weir.New(w, weir.Options{Namespace: namespace})
	return logger{
		threeEvents: func(r *request) {
			http := weir.HTTP{Method: r.Method, Scheme: r.Scheme, Host: r.Host, Port: r.Port, Path: r.Path, Query: r.Query}
			http.StartedAt = r.StartedAt
			l.Info(received).TraceID(traceID).HTTP(&http).Send()
			http.StartedAt = time.Time{}
			l.Info(proxying).TraceID(traceID).HTTP(&http).Str("destination", r.Destination).Str("proxy_name", r.Proxy).Send()
			http.StartedAt = r.StartedAt
			http.StatusCode, http.EndedAt, http.Duration = r.StatusCode, r.EndedAt, r.EndedAt.Sub(r.StartedAt)
			http.ResponseContentLength = r.ContentLength
			l.Info(completed).TraceID(traceID).HTTP(&http).Send()
		},
		tenFields: func(f *fields) {
			l.Info("dataset filtered").
				Str("dataset", f.Dataset).Str("edition", f.Edition).Str("version", f.Version).Str("dimension", f.Dimension).
				Int("rows", f.Rows).Int("attempt", f.Attempt).Int64("bytes", f.Bytes).Float64("ratio", f.Ratio).
				Bool("cached", f.Cached).Dur("took", f.Took).
				Send()
		},
		disabled: func() { l.Debug(received).TraceID(traceID).Send() },
	}
}
