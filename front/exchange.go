package front

import (
	"errors"
	"time"

	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/front/internal/wire"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log"
)

// An exchange is one request, its response and all state that the front door
// keeps for them. It belongs to an exchange of the wire, which comes from a pool.
type exchange struct {
	*stage.Exchange
	wire *wire.Exchange // which has the stage.Exchange

	trace       trace
	spans       spans
	found       *route // result of the lookup
	allow       string // the methods that the path has routes for, if found is nil
	events      eventSet
	route       *route           // found, once the rate limit of all requests has let it pass
	announced   *proxying.Server // the server in the event "proxying request"
	announcedAt time.Time        // of an event that is held
	held        uint8            // the number of events that are held
	http        log.HTTP
	encoded     log.EncodedHTTP // of http, if it has several events
	clientText  [64]byte        // buffer of http.Client
	sampled     logcost.Sampled // selects the events that are measured; keeps its state in the pool
	verdict     verdict

	inRoute   *gate  // the gate of the route, while the request is in it
	inGroups  int    // the number of gates of groups in which the request is, from the innermost
	inAll     *gate  // the gate of all requests, while the request is in it
	limitedBy string // the name of the group whose limit has refused the request
}

// A verdict is what is known about a request before the first of the [steps].
type verdict struct {
	status  int    // of a refusal for which no route is looked up; 0 for none
	why     string // it is refused
	invalid bool   // the request is ambiguous, so that only a refusal may respond
	plain   bool   // tls.redirect applies to it, unless its route is excepted
}

// of returns the exchange of the front door that a stage sees as x.
func of(x *proxying.Exchange) *exchange { return x.Context.(*exchange) }

// attach gives an exchange of the wire the state of the front door.
func attach(wx *wire.Exchange) {
	wx.Context = &exchange{Exchange: &wx.Exchange, wire: wx, sampled: logcost.SampleEvents()}
}

// reset forgets the request.
func (x *exchange) reset() {
	x.found, x.allow, x.route, x.announced, x.held = nil, "", nil, nil, 0
	x.inRoute, x.inGroups, x.inAll, x.limitedBy = nil, 0, nil, ""
	x.verdict = verdict{}
	x.http = log.HTTP{}
	x.trace.reset()
	x.spans.reset()
}

// leaveGates releases the in-flight slots of the request.
func (x *exchange) leaveGates() {
	x.leave(&x.inAll)
	for ; x.inGroups > 0; x.inGroups-- {
		g := x.route.groups[len(x.route.groups)-x.inGroups]
		x.leave(&g)
	}
	x.leave(&x.inRoute)
}

// leave releases the slot of a gate that the request has entered.
func (x *exchange) leave(entered **gate) {
	g := *entered
	if g == nil {
		return
	}
	*entered = nil
	if g.adaptive {
		g.inFlight.LeaveAfter(time.Now(), x.serviceTime())
	} else {
		g.leave()
	}
}

// serviceTime returns the time that the upstream took for a request, for a limit that follows
// it. It is 0 if the client determined it, if the upstream has rejected the request, or if weir has
// responded itself.
func (x *exchange) serviceTime() time.Duration {
	failure := x.Failure()
	switch {
	case x.Upgraded, x.Refusal != "", x.Status == 503:
	case x.Length < 0, x.Length > proxying.ShortBody: // the client was sending meanwhile
	case failure != nil && failure.ByClient():
	default:
		return x.Waited
	}
	return 0
}

var errDrained = errors.New("cut, since the time to drain was up")

// markDrained changes the failure of an exchange whose client seems to have
// disconnected: the front door has cut the connection.
func (x *exchange) markDrained() {
	if failure := x.Failure(); failure != nil && failure.Kind == proxying.ClientGone {
		x.Err = &proxying.Error{Kind: stage.Drained, Server: failure.Server, Step: failure.Step, Err: errDrained}
	}
}
