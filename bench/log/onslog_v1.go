package log

import (
	"context"
	"io"

	dprequest "github.com/ONSdigital/dp-net/request"

	"github.com/weirhq/weir/log/onslog/v1"
)

// OnslogV1 and LogGoV1 are rows that targets refer to.
const (
	OnslogV1 = "weir log/onslog/v1"
	LogGoV1  = "ONSdigital/log.go v1"
)

func openOnslogV1(w io.Writer) logger {
	log.Namespace = namespace
	log.SetDestination(w, nil)
	ctx := dprequest.WithRequestId(context.Background(), traceID)
	req := onsRequest()
	return logger{threeEvents: func(r *request) {
		log.Event(ctx, received, log.INFO, log.HTTP(req, 0, 0, &r.StartedAt, nil))
		log.Event(ctx, proxying, log.INFO, log.HTTP(req, 0, 0, nil, nil),
			log.Data{"destination": r.Destination, "proxy_name": r.Proxy})
		log.Event(ctx, completed, log.INFO, log.HTTP(req, r.StatusCode, r.ContentLength, &r.StartedAt, &r.EndedAt))
	}}
}
