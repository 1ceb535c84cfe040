package front

import (
	"cmp"
	"net/netip"
	"strconv"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/proxy"
)

// rateKeys is the number of clients for which a rate limit keeps a state of its own.
// The memory is at most 40 bytes for each; see limit.RateOptions.
const rateKeys = 1 << 20

// A gate holds the limits of all requests, or those of one route.
type gate struct {
	route    string // pattern, or allRoutes
	limits   config.RequestLimits
	inFlight *limit.InFlight // nil for no limit
	adaptive bool            // inFlight follows the latency of the upstreams
	rate     *limit.Rate     // nil for no limit
	total    time.Duration   // timeout.total of the route; 0 for no limit
}

// newGate returns a gate with the given limits. It takes over the requests in
// flight from the gate that the route had before a reload, so that the reload
// never exceeds the limits. A rate limit that is unchanged keeps its state. Call
// apply when the new gate replaces the old one. most is the highest value of an adaptive limit.
func newGate(route string, l config.RequestLimits, most int, gates map[string]*gate) *gate {
	g := &gate{route: route, limits: l, adaptive: l.InFlight == config.InFlightAuto}
	if g.adaptive {
		g.limits.InFlight = most
	}
	before := gates[route]
	switch {
	case l.InFlight == 0:
	case before != nil && before.inFlight != nil:
		g.inFlight = before.inFlight
	default:
		g.inFlight = limit.NewInFlight(g.inFlightOptions())
	}
	switch {
	case l.Rate.Every == 0:
	case before != nil && before.limits.Rate == l.Rate:
		g.rate = before.rate
	default:
		g.rate = limit.NewRate(limit.RateOptions{Every: l.Rate.Every, Burst: l.Rate.Burst, Keys: rateKeys})
	}
	return g
}

// apply applies the gate's limits to the requests in flight that it took over.
func (g *gate) apply() {
	if g.inFlight != nil {
		g.inFlight.Change(g.inFlightOptions())
	}
}

// allow takes a token for a request. If there is none, it returns the fields for
// the response; otherwise nil.
func (g *gate) allow(now time.Time, client netip.Addr, header []proxy.Field) []proxy.Field {
	if g.rate == nil {
		return nil
	}
	d := g.rate.Allow(now, g.key(client, header))
	if d.OK {
		return nil
	}
	const name = "rate"
	return []proxy.Field{
		{Name: "Retry-After", Value: strconv.FormatInt(limit.RetrySeconds(d.RetryAfter), 10)},
		{Name: "RateLimit-Policy", Value: string(g.rate.AppendPolicy(nil, name))},
		{Name: "RateLimit", Value: string(g.rate.AppendState(nil, name, d))},
	}
}

// key returns the key of the rate limit for a request.
func (g *gate) key(client netip.Addr, header []proxy.Field) limit.Key {
	switch per := g.limits.Rate.Per; per {
	case "", config.RatePerClient:
		return limit.KeyOf(client)
	case config.RatePerRoute:
		return limit.KeyOfString("")
	default:
		name := per[len(config.RatePerHeader):]
		for i := range header {
			if httpsyntax.EqualFold(header[i].Name, name) {
				return limit.KeyOfString(header[i].Value)
			}
		}
		return limit.KeyOfString("")
	}
}

// leave releases an in-flight slot.
func (g *gate) leave() {
	if g.inFlight != nil {
		g.inFlight.Leave()
	}
}

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
	limitServers     limitName = "server_connections"
	limitServerQueue limitName = "server_queue"
	limitAdmin       limitName = "admin_connections"
	limitPasswords   limitName = "password_checks"
	limitTotal       limitName = "timeout_total"
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

func (g *gate) inFlightOptions() limit.InFlightOptions {
	l := &g.limits
	return limit.InFlightOptions{Max: l.InFlight, Adaptive: g.adaptive, Queue: l.Queue.Length, Wait: l.Queue.Wait}
}
