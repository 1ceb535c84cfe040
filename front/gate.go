package front

import (
	"cmp"
	"net/netip"
	"strconv"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/sharing"
	"github.com/weirhq/weir/front/internal/wire"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease"
)

// rateKeys is the number of clients for which a rate limit keeps a state of its own.
// The memory is at most 40 bytes for each; see limit.RateOptions.
const rateKeys = 1 << 20

// sharedRateKeys is the same for a rate that replicas share, whose state of a client is larger.
const sharedRateKeys = 1 << 17

// A gate holds the limits of all requests, or those of one route or group.
type gate struct {
	route    string // pattern, name of a group, or allRoutes
	group    string // the name of a group with a name in the file
	limits   config.RequestLimits
	inFlight *limit.InFlight // nil for no limit
	adaptive bool            // inFlight follows the capacity of the upstreams
	rate     *limit.Rate     // nil for no limit
	leaser   *lease.Leaser   // of rate; nil if replicas do not share it
	slots    sharedSlots     // of inFlight
	total    time.Duration   // timeout.total of the route; 0 for no limit
}

// A gateBuilder makes the gates of a configuration.
type gateBuilder struct {
	stores    *sharing.Stores
	namespace string           // by which replicas find each other
	gates     map[string]*gate // of the tables that are replaced, or nil
	most      int              // the highest value of a limit of requests in flight, if that is adaptive or of all routes
}

// newGate returns a gate with the given limits. It takes over the requests in
// flight from the gate that the route had before a reload, so that the reload
// never exceeds the limits. A rate limit that is unchanged keeps its state. Call
// apply when the new gate replaces the old one.
func (b *gateBuilder) newGate(route string, l config.RequestLimits) (g *gate, err error) {
	g = &gate{route: route, limits: l, adaptive: l.InFlight == config.InFlightAuto}
	if g.adaptive || route == allRoutes && (l.InFlight == 0 || l.InFlight > b.most) {
		g.limits.InFlight = b.most
	}
	before := b.gates[route]
	if before == nil {
		before = new(gate)
	}
	switch {
	case g.limits.InFlight == 0:
	case before.inFlight != nil:
		g.inFlight = before.inFlight
	default:
		g.inFlight = limit.NewInFlight(g.inFlightOptions())
	}
	if l.InFlightShared != "" && l.InFlight > 0 {
		g.slots.max = l.InFlight
		if g.slots.leaser, err = b.stores.Use(l.InFlightShared, b.namespace); err != nil {
			return nil, err
		}
		if before.slots.leaser == g.slots.leaser {
			g.slots.slots = before.slots.slots
		}
	}
	return g, b.setRate(g, before)
}

// setRate sets the rate limit of a gate.
func (b *gateBuilder) setRate(g, before *gate) (err error) {
	r := g.limits.Rate
	if r.Every == 0 {
		return nil
	}
	if r.Shared != "" {
		if g.leaser, err = b.stores.Use(r.Shared, b.namespace); err != nil {
			return err
		}
	}
	options := limit.RateOptions{Every: r.Every, Burst: r.Burst, Keys: rateKeys}
	switch {
	case before.limits.Rate == r && before.leaser == g.leaser:
		g.rate = before.rate
	case g.leaser != nil:
		g.rate = newSharedRate(g.leaser, g.route, r.Per, options)
	default:
		g.rate = limit.NewRate(options)
	}
	return nil
}

// apply applies the gate's limits to the requests in flight that it took over.
func (g *gate) apply() {
	if g.inFlight != nil {
		g.slots.apply(g.route, g.inFlight, g.limits.InFlight)
		g.inFlight.Change(g.inFlightOptions())
	}
}

// closeSlots returns the slots of gates that others replace, unless these have taken them over. The
// new gates are not applied yet.
func closeSlots(before, now map[string]*gate) {
	for route, g := range before {
		if next := now[route]; g.slots.slots != nil && (next == nil || next.slots.slots != g.slots.slots) {
			g.slots.slots.Close()
		}
	}
}

// allow takes a token for a request. If there is none, it returns the fields for
// the response; otherwise nil.
func (g *gate) allow(now time.Time, client netip.Addr, header []proxying.Field) []proxying.Field {
	if g.rate == nil {
		return nil
	}
	d := g.rate.Allow(now, g.key(client, header))
	if d.OK {
		return nil
	}
	const name = "rate"
	return []proxying.Field{
		{Name: "Retry-After", Value: strconv.FormatInt(limit.RetrySeconds(d.RetryAfter), 10)},
		{Name: "RateLimit-Policy", Value: string(g.rate.AppendPolicy(nil, name))},
		{Name: "RateLimit", Value: string(g.rate.AppendState(nil, name, d))},
	}
}

// key returns the key by which the rate limit counts a request.
func (g *gate) key(client netip.Addr, header []proxying.Field) limit.Key {
	switch per := g.limits.Rate.Per; per {
	case "", config.RatePerClient:
		return limit.KeyOf(client)
	case config.RatePerRoute:
	default:
		name := per[len(config.RatePerHeader):]
		for i := range header {
			if httpsyntax.EqualFold(header[i].Name, name) {
				return limit.KeyOfString(header[i].Value)
			}
		}
	}
	return limit.Key{}
}

// leave releases an in-flight slot.
func (g *gate) leave() {
	if g.inFlight != nil {
		g.inFlight.Leave()
	}
}

// The names of limits in events and metrics.
const (
	limitInFlight    = "in_flight"
	limitQueue       = "queue"
	limitRate        = "rate"
	limitBody        = "body"
	limitUpload      = "upload_rate"
	limitDownload    = "download_rate"
	limitHeaders     = wire.LimitHeaders
	limitHeaderTime  = wire.LimitHeaderTime
	limitConnections = wire.LimitConnections
	limitPerClient   = wire.LimitPerClient
	limitFiles       = wire.LimitFiles
	limitUpstreams   = "upstream_connections"
	limitWaiting     = "upstream_waiting"
	limitServers     = "server_connections"
	limitServerQueue = "server_queue"
	limitTotal       = "timeout_total"
)

// allRoutes is the route label of the limits that apply to all requests.
const allRoutes = "all"

// withDefaults replaces zeros for which there is no "no limit" by the defaults.
func withDefaults(l config.Limits) config.Limits {
	d := config.Default().Limits
	l.Head = cmp.Or(l.Head, d.Head)
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
	return limit.InFlightOptions{
		Max: g.slots.of(l.InFlight), Adaptive: g.adaptive, Queue: l.Queue.Length, Wait: l.Queue.Wait,
	}
}
