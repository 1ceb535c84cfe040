package log

import (
	"context"
	"io"
	"net/http"
	"net/url"

	dprequest "github.com/ONSdigital/dp-net/v3/request"
	ons "github.com/ONSdigital/log.go/v2/log"
)

// openONSv2 uses log.go like a front-end router: the http fields are taken from the request, and the trace id from the
// context that a middleware has set. log.go has no levels and so no row for the disabled event. Its destination is a
// package variable, so only the logger opened last can be used.
func openONSv2(w io.Writer) logger {
	ons.Namespace = namespace
	ons.SetDestination(w, nil)
	ctx := context.WithValue(context.Background(), dprequest.RequestIdKey, traceID)
	req := onsRequest()
	three := Three{
		func(r *request) { ons.Info(ctx, received, ons.HTTP(req, 0, 0, &r.StartedAt, nil)) },
		func(r *request) {
			ons.Info(ctx, proxying, ons.HTTP(req, 0, 0, nil, nil), ons.Data{"destination": r.Destination,
				"proxy_name": r.Proxy})
		},
		func(r *request) {
			ons.Info(ctx, completed, ons.HTTP(req, r.StatusCode, r.ContentLength, &r.StartedAt, &r.EndedAt))
		},
	}
	return logger{
		three:       three,
		threeEvents: three.all,
		tenFields: func(f *fields) {
			ons.Info(context.Background(), filtered, ons.Data{
				"dataset": f.Dataset, "edition": f.Edition, "version": f.Version, "dimension": f.Dimension,
				"rows": f.Rows, "attempt": f.Attempt, "bytes": f.Bytes, "ratio": f.Ratio, "cached": f.Cached,
				"took": f.Took,
			})
		},
	}
}

// onsRequest returns the proxied request in log.go's form.
func onsRequest() *http.Request {
	return &http.Request{Method: proxied.Method, URL: &url.URL{
		Scheme: proxied.Scheme, Host: proxied.Host + ":20000", Path: proxied.Path, RawQuery: proxied.Query,
	}}
}
