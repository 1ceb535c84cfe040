package front

import (
	"context"
	"net/netip"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
	"github.com/weirhq/weir/router"
)

// An exchange is one request on its way through the door, with all that is
// known of it.
type exchange struct {
	proxy.Exchange

	path, query string // of the target, still escaped
	began       time.Time
	client      netip.Addr // behind the trusted proxies
	trace       trace
	found       *route // by lookup
	allow       string // the methods that the path has routes for, if nothing was found
	events      eventSet
	route       *route        // set once the request has reached it
	announced   *proxy.Server // the one that the event "proxying request" names
	params      router.Params
	http        log.HTTP
	clientText  [64]byte // the storage of http.Client
	sampled     sampled  // which of its events are measured, over all requests that it serves
	ambiguity   string   // what of the request its face has found to have two meanings
	refusal     string   // why Weir itself answered, when it did

	pacer     pacer
	departure departure
	ctx       context.Context // over HTTP/2: ends when the client leaves
	inRoute   *gate           // that it has entered, of its route
	inAll     *gate           // and of the door
	limit     limitName       // that has refused or ended it
}

// reset makes the exchange ready for the pool.
func (x *exchange) reset() {
	x.Exchange.Reset()
	x.path, x.query, x.ambiguity, x.refusal = "", "", "", ""
	x.began = time.Time{}
	x.client = netip.Addr{}
	x.found, x.allow, x.route, x.announced = nil, "", nil, nil
	x.params.Release()
	x.pacer.reset()
	x.departure.reset()
	x.ctx, x.inRoute, x.inAll, x.limit = nil, nil, nil, ""
	x.http = log.HTTP{}
	x.trace.reset()
}
