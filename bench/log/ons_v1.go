package log

import (
	"context"
	"io"
	_ "unsafe" // for go:linkname

	dprequest "github.com/ONSdigital/dp-net/request"
	ons "github.com/ONSdigital/log.go/log"
)

// onsV1Destination is the output of log.go 1.x. It is standard output, and no exported function changes it.
//
//go:linkname onsV1Destination github.com/ONSdigital/log.go/log.destination
var onsV1Destination io.Writer

// openONSv1 uses log.go 1.x like a front-end router; see openONSv2. The severity is an option in 1.x.
func openONSv1(w io.Writer) logger {
	ons.Namespace = namespace
	onsV1Destination = w
	ctx := dprequest.WithRequestId(context.Background(), traceID)
	req := onsRequest()
	three := Three{
		func(r *request) { ons.Event(ctx, received, ons.INFO, ons.HTTP(req, 0, 0, &r.StartedAt, nil)) },
		func(r *request) {
			ons.Event(ctx, proxying, ons.INFO, ons.HTTP(req, 0, 0, nil, nil), ons.Data{"destination": r.Destination,
				"proxy_name": r.Proxy})
		},
		func(r *request) {
			ons.Event(ctx, completed, ons.INFO, ons.HTTP(req, r.StatusCode, r.ContentLength, &r.StartedAt, &r.EndedAt))
		},
	}
	return logger{
		three:       three,
		threeEvents: three.all,
		tenFields: func(f *fields) {
			ons.Event(context.Background(), filtered, ons.INFO, ons.Data{
				"dataset": f.Dataset, "edition": f.Edition, "version": f.Version, "dimension": f.Dimension,
				"rows": f.Rows, "attempt": f.Attempt, "bytes": f.Bytes, "ratio": f.Ratio, "cached": f.Cached,
				"took": f.Took,
			})
		},
	}
}
