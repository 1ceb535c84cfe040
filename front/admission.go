package front

import (
	"context"
	"errors"
	"strconv"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/pacing"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/limit"
)

// admit applies the limits to a request that has a route, and reports whether
// they let it pass. Otherwise it has responded. A request that waits for a slot
// of its route does not occupy one of the slots for all routes.
func (d *Door) admit(x *exchange, t *tables) bool {
	g := x.route.gate
	x.wire.Pacer.SetLimits(paceOf(&x.route.limits))
	if g.total > 0 {
		x.Deadline = x.Arrived.Add(g.total)
	}
	if x.route.limits.Body > 0 && x.Length > x.route.limits.Body {
		d.refuseFor(x, 413, limitBody, g.route, "the body is longer than the limit allows")
		return false
	}
	for _, group := range x.route.groups {
		if fields := group.allow(x.Arrived, x.ClientAddr, x.Header); fields != nil {
			x.limitedBy = group.group
			d.refuseFor(x, 429, limitRate, group.route, "more requests than the rate of the routes allows", fields...)
			return false
		}
	}
	if fields := g.allow(x.Arrived, x.ClientAddr, x.Header); fields != nil {
		d.refuseFor(x, 429, limitRate, g.route, "more requests than the route's rate allows", fields...)
		return false
	}
	return d.enter(x, g, &x.inRoute) && d.enterGroups(x) && d.enter(x, t.gate, &x.inAll)
}

// enterGroups waits until the gates of the groups of the route admit the request, from the innermost.
func (d *Door) enterGroups(x *exchange) bool {
	groups := x.route.groups
	for x.inGroups < len(groups) {
		var entered *gate
		if !d.enter(x, groups[len(groups)-1-x.inGroups], &entered) {
			return false
		}
		x.inGroups++
	}
	return true
}

// paceOf returns the limits that a pacer enforces.
func paceOf(l *config.RequestLimits) pacing.Limits {
	return pacing.Limits{
		Body: l.Body, UploadRate: l.UploadRate, DownloadRate: l.DownloadRate,
		ReadTimeout: l.ReadTimeout, WriteTimeout: l.WriteTimeout,
	}
}

// enter waits until the gate admits the request, sets *entered to the gate, and
// returns true. If the gate does not admit it, enter responds and returns false.
func (d *Door) enter(x *exchange, g *gate, entered **gate) bool {
	err := x.takeSlot(g)
	switch {
	case err == nil:
		*entered = g
		return true
	case errors.Is(err, context.Canceled):
		x.Err = &proxying.Error{Kind: proxying.ClientGone, Step: "waiting for its turn", Err: err}
		x.Status, x.Cut = 499, true
	case errors.Is(err, context.DeadlineExceeded):
		d.refuseFor(x, 504, limitTotal, x.route.label, "the time of the request was over before its turn came")
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

// takeSlot takes an in-flight slot of a gate, and waits if there is none.
func (x *exchange) takeSlot(g *gate) error {
	switch {
	case g.inFlight == nil || g.inFlight.TryEnter():
		return nil
	case g.limits.Queue.Length == 0:
		return g.inFlight.Enter(context.Background()) // does not wait
	}
	return x.waitForSlot(g)
}

// waitForSlot waits for an in-flight slot. Other exchanges of the driver continue meanwhile.
func (x *exchange) waitForSlot(g *gate) (err error) {
	ctx, cancel := x.WaitContext()
	defer cancel()
	if !x.Deadline.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, x.Deadline)
		defer stop()
	}
	x.Block(func() { err = g.inFlight.Enter(ctx) })
	return err
}

func (d *Door) refuseBusy(x *exchange, g *gate, name string, why string) {
	x.limitedBy = g.group
	seconds := strconv.FormatInt(limit.RetrySeconds(g.limits.Queue.Wait), 10)
	d.refuseFor(x, 503, name, g.route, why, proxying.Field{Name: "Retry-After", Value: seconds})
}

// refuseFor refuses a request because of a limit, and counts it.
func (d *Door) refuseFor(x *exchange, status int, name string, route, why string, fields ...proxying.Field) {
	x.Limit = name
	d.metrics.refusal(name, route).Inc()
	x.Refuse(status, why, fields...)
}

// noteLimit sets and counts the limit that has ended an exchange in progress.
func (d *Door) noteLimit(x *exchange) {
	failure := x.Failure()
	if failure == nil || x.route == nil {
		return
	}
	var name string
	route := x.route.label
	switch {
	case failure.Kind == proxying.NoFile:
		name, route = limitFiles, allRoutes
	case failure.Kind == proxying.QueueFull:
		name = limitServers
	case failure.Kind == proxying.QueueTimeout:
		name = limitServerQueue
	case failure.Kind == proxying.TooManyConns:
		name, route = limitUpstreams, allRoutes
	case errors.Is(failure, proxying.ErrTooManyWaiting):
		name = limitWaiting
	case errors.Is(failure, proxying.ErrOverdue):
		name = limitTotal
	case failure == pacing.ErrSlowUpload:
		name = limitUpload
	case failure == pacing.ErrSlowDownload:
		name = limitDownload
	case failure == pacing.ErrBodyTooLong:
		name = limitBody
	default:
		return
	}
	x.Limit = name
	d.metrics.refusal(name, route).Inc()
}
