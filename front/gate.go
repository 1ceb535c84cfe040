package front

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/proxy"
)

// rateKeys is how many clients a rate tells apart: at 32 bytes each.
const rateKeys = 1 << 20

// A gate lets requests in: all of them, or those of a route.
type gate struct {
	route    string // pattern, or allRoutes
	limits   config.RequestLimits
	inFlight *limit.InFlight // nil without
	rate     *limit.Rate     // nil without
}

// newGate makes a gate for limits. Who is in flight by the gate that the route
// had before counts on, so that a reload lets nobody in beyond the limits, and
// so do rates that are the same. apply is called once the gate takes that one's
// place.
func (d *Door) newGate(route string, l config.RequestLimits, all map[string]*gate) *gate {
	g := &gate{route: route, limits: l}
	before := all[route]
	switch {
	case l.InFlight == 0:
	case before != nil && before.inFlight != nil:
		g.inFlight = before.inFlight
	default:
		g.inFlight = limit.NewInFlight(inFlightOptions(&l))
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

// apply has the requests that are in flight already held to the gate's limits.
func (g *gate) apply() {
	if g.inFlight != nil {
		g.inFlight.Change(inFlightOptions(&g.limits))
	}
}

// allow counts a request for the rate. It returns the fields that explain a
// refusal, or nil.
func (g *gate) allow(x *exchange) []proxy.Field {
	if g.rate == nil {
		return nil
	}
	d := g.rate.Allow(x.began, g.key(x))
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

// key returns whose request it is.
func (g *gate) key(x *exchange) limit.Key {
	switch per := g.limits.Rate.Per; per {
	case "", config.RatePerClient:
		return limit.KeyOf(x.client)
	case config.RatePerRoute:
		return limit.KeyOfString("")
	default:
		name := per[len(config.RatePerHeader):]
		for i := range x.Header {
			if x.Header[i].Name == name {
				return limit.KeyOfString(x.Header[i].Value)
			}
		}
		return limit.KeyOfString("")
	}
}

// enter waits for the request's turn.
func (g *gate) enter(x *exchange) error {
	if g.inFlight == nil {
		return nil
	}
	return g.inFlight.Enter(x.context())
}

// leave is called once for each enter that returned nil.
func (g *gate) leave() {
	if g.inFlight != nil {
		g.inFlight.Leave()
	}
}

// admitted tells whether the limits let a request pass that has a route, and
// answers it otherwise. Who waits for a place on its route does not take one of
// the others.
func (d *Door) admitted(x *exchange, t *tables) bool {
	g := x.route.gate
	x.pacer.keep(&x.route.limits)
	if x.route.limits.Body > 0 && x.Length > x.route.limits.Body {
		d.refuseFor(x, 413, limitBody, g.route, "the body is longer than the limit allows")
		return false
	}
	if fields := g.allow(x); fields != nil {
		d.refuseFor(x, 429, limitRate, g.route, "more requests than the route's rate allows", fields...)
		return false
	}
	return d.enter(x, g, &x.inRoute) && d.enter(x, t.gate, &x.inAll)
}

// enter waits until the gate lets the request in, and notes that in entered.
func (d *Door) enter(x *exchange, g *gate, entered **gate) bool {
	err := g.enter(x)
	switch {
	case err == nil:
		*entered = g
		return true
	case errors.Is(err, context.Canceled):
		x.Err = &proxy.Error{Kind: proxy.ClientGone, Step: "waiting for its turn", Err: err}
		x.Status, x.Cut = 499, true
	case errors.Is(err, limit.ErrFull) && g.limits.Queue.Length == 0:
		d.refuseBusy(x, g, limitInFlight, "too many requests in flight")
	case errors.Is(err, limit.ErrFull):
		d.refuseBusy(x, g, limitQueue, "too many requests in flight and waiting")
	case errors.Is(err, limit.ErrOvertaken):
		d.refuseBusy(x, g, limitQueue, "too many requests in flight, and newer ones waiting")
	default:
		d.refuseBusy(x, g, limitQueue, "too many requests in flight for the whole waiting time")
	}
	return false
}

func (d *Door) refuseBusy(x *exchange, g *gate, name limitName, why string) {
	wait := g.limits.Queue.Wait
	d.refuseFor(x, 503, name, g.route, why, proxy.Field{Name: "Retry-After", Value: strconv.FormatInt(limit.RetrySeconds(wait), 10)})
}

// refuseFor refuses a request for a limit, and counts that.
func (d *Door) refuseFor(x *exchange, status int, name limitName, route, why string, fields ...proxy.Field) {
	x.limit = name
	d.metrics.refusal(name, route).Inc()
	d.refuse(x, status, why, fields...)
}

// blameLimit notes which limit has ended an exchange that was under way.
func (d *Door) blameLimit(x *exchange) {
	failure := x.failure()
	if failure == nil || x.route == nil {
		return
	}
	route := x.route.pattern
	switch {
	case failure.Kind == proxy.NoFile:
		x.limit, route = limitFiles, allRoutes
	case failure.Kind == proxy.TooManyConns:
		x.limit, route = limitUpstreams, allRoutes
	case errors.Is(failure, proxy.ErrTooManyWaiting):
		x.limit = limitWaiting
	case failure == errSlowUpload:
		x.limit = limitUpload
	case failure == errSlowDownload:
		x.limit = limitDownload
	case failure == errBodyTooLong:
		x.limit = limitBody
	default:
		return
	}
	d.metrics.refusal(x.limit, route).Inc()
}

// leaveGates gives the places of an exchange to others.
func (x *exchange) leaveGates() {
	for _, entered := range []**gate{&x.inAll, &x.inRoute} {
		if g := *entered; g != nil {
			*entered = nil
			g.leave()
		}
	}
}

// context returns a context that ends when the client leaves.
func (x *exchange) context() context.Context {
	if x.ctx != nil {
		return x.ctx
	}
	return &x.departure
}

// Cancel ends the exchange because its client is gone, or will be.
func (x *exchange) Cancel() {
	x.Exchange.Cancel()
	x.departure.end()
}

// A departure is the context of an exchange over HTTP/1. It costs nothing
// unless somebody waits for its end. The zero value is ready.
type departure struct {
	mu   sync.Mutex
	done chan struct{} // guarded by mu, as the next; nil as long as nobody waits
	over bool
}

var _ context.Context = (*departure)(nil)

// end ends the context. It may be called again.
func (d *departure) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.over && d.done != nil {
		close(d.done)
	}
	d.over = true
}

// reset makes the context a new one. Nobody waits.
func (d *departure) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done, d.over = nil, false
}

// Done implements context.Context.
func (d *departure) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done == nil {
		d.done = make(chan struct{})
		if d.over {
			close(d.done)
		}
	}
	return d.done
}

// Err implements context.Context.
func (d *departure) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return context.Canceled
	}
	return nil
}

// Deadline implements context.Context.
func (d *departure) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value implements context.Context.
func (d *departure) Value(any) any { return nil }
