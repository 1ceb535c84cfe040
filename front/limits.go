package front

import (
	"cmp"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/limit"
)

// A limitName is the name of a limit in events and metrics.
type limitName string

const (
	limitInFlight    limitName = "in_flight"
	limitQueue       limitName = "queue"
	limitRate        limitName = "rate"
	limitBody        limitName = "body"
	limitUpload      limitName = "upload_rate"
	limitDownload    limitName = "download_rate"
	limitHeaders     limitName = "headers"
	limitHeaderTime  limitName = "header_timeout"
	limitConnections limitName = "max_connections"
	limitPerClient   limitName = "connections_per_client"
	limitFiles       limitName = "open_files"
	limitUpstreams   limitName = "upstream_connections"
	limitWaiting     limitName = "upstream_waiting"
	limitAdmin       limitName = "admin_connections"
)

// allRoutes is the route label of the limits that apply to all requests.
const allRoutes = "all"

// withDefaults replaces zeros for which there is no "no limit" by the defaults.
func withDefaults(l config.Limits) config.Limits {
	d := config.Default().Limits
	l.Headers = cmp.Or(l.Headers, d.Headers)
	l.HeaderTimeout = cmp.Or(l.HeaderTimeout, d.HeaderTimeout)
	l.IdleTimeout = cmp.Or(l.IdleTimeout, d.IdleTimeout)
	return l
}

// inherit returns the limits of one request of a route. Where the route has
// none, those of the door apply.
func inherit(route, door config.RequestLimits) config.RequestLimits {
	route.Body = inheritOne(route.Body, door.Body)
	route.UploadRate = inheritOne(route.UploadRate, door.UploadRate)
	route.DownloadRate = inheritOne(route.DownloadRate, door.DownloadRate)
	route.ReadTimeout = inheritOne(route.ReadTimeout, door.ReadTimeout)
	route.WriteTimeout = inheritOne(route.WriteTimeout, door.WriteTimeout)
	return route
}

// inheritOne returns a limit of a route, or that of the door if the route has
// none. In the result, 0 means no limit.
func inheritOne[T int64 | time.Duration](route, door T) T {
	if route == 0 {
		route = door
	}
	return max(route, 0)
}

func inFlightOptions(l *config.RequestLimits) limit.InFlightOptions {
	return limit.InFlightOptions{Max: l.InFlight, Queue: l.Queue.Length, Wait: l.Queue.Wait}
}
