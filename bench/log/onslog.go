package log

import (
	"context"
	"io"

	dprequest "github.com/ONSdigital/dp-net/v3/request"

	"github.com/weirhq/weir/log/onslog/v2"
)

// OnslogV2 and LogGoV2 are rows that targets refer to.
const (
	OnslogV2 = "weir log/onslog/v2"
	LogGoV2  = "ONSdigital/log.go v2"
)

// onslogRows call log.go and Weir's replacement for it through the same API.
func onslogRows() []row {
	return by([]contender{
		{name: OnslogV2, ours: true, open: openOnslogV2},
		byONSv2,
	}, threeEvents)
}

func openOnslogV2(w io.Writer) logger {
	log.Namespace = namespace
	log.SetDestination(w, nil)
	ctx := context.WithValue(context.Background(), dprequest.RequestIdKey, traceID)
	req := onsRequest()
	return logger{threeEvents: func(r *request) {
		log.Info(ctx, received, log.HTTP(req, 0, 0, &r.StartedAt, nil))
		log.Info(ctx, proxying, log.HTTP(req, 0, 0, nil, nil),
			log.Data{"destination": r.Destination, "proxy_name": r.Proxy})
		log.Info(ctx, completed, log.HTTP(req, r.StatusCode, r.ContentLength, &r.StartedAt, &r.EndedAt))
	}}
}
