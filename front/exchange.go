package front

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
	"github.com/weirhq/weir/router"
)

// An exchange is one request, its response and all state that the front door
// keeps for them. It comes from a pool.
type exchange struct {
	proxy.Exchange

	path, query string // of the target, still escaped
	began       time.Time
	client      netip.Addr // as reported by trusted proxies
	trace       trace
	found       *route // result of the lookup
	allow       string // the methods that the path has routes for, if found is nil
	events      eventSet
	route       *route        // found, once the rate limit of all requests has let it pass
	announced   *proxy.Server // the server in the event "proxying request"
	params      router.Params
	http        log.HTTP
	encoded     log.EncodedHTTP // of http, if it has several events
	clientText  [64]byte        // buffer of http.Client
	sampled     sampled         // selects the events that are measured; keeps its state in the pool
	ambiguity   string          // why the request is ambiguous
	refusal     string          // why Weir itself responded; "" if it did not

	pacer      pacer
	clientGone clientGone
	ctx        context.Context // over HTTP/2: ends when the client disconnects
	inRoute    *gate           // the gate of the route, while the request is in it
	inAll      *gate           // the gate of all requests, while the request is in it
	limit      limitName       // the limit that refused or ended the exchange
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
	x.clientGone.reset()
	x.ctx, x.inRoute, x.inAll, x.limit = nil, nil, nil, ""
	x.http = log.HTTP{}
	x.trace.reset()
}

// context returns a context that ends when the client disconnects.
func (x *exchange) context() context.Context {
	if x.ctx != nil {
		return x.ctx
	}
	return &x.clientGone
}

// driver returns the driver that runs the exchange.
func (x *exchange) driver() transport.Driver {
	if x.Driver == nil {
		return transport.Goroutines
	}
	return x.Driver
}

// Cancel ends the exchange because its client has disconnected, or is about to
// be disconnected.
func (x *exchange) Cancel() {
	x.Exchange.Cancel()
	x.clientGone.end()
}

// leaveGates releases the in-flight slots of the request.
func (x *exchange) leaveGates() {
	for _, entered := range []**gate{&x.inAll, &x.inRoute} {
		if g := *entered; g != nil {
			*entered = nil
			g.leave()
		}
	}
}

// failure returns the reason why the exchange failed. It is nil if the exchange
// succeeded or panicked.
func (x *exchange) failure() *proxy.Error {
	failure, _ := x.Err.(*proxy.Error)
	return failure
}

// drained is the kind of failure of an exchange that the front door has cut
// because drain.timeout was over.
const drained proxy.Kind = "drained"

var errDrained = errors.New("cut, since the time to drain was up")

// markDrained changes the failure of an exchange whose client seems to have
// disconnected: the front door has cut the connection.
func (x *exchange) markDrained() {
	if failure := x.failure(); failure != nil && failure.Kind == proxy.ClientGone {
		x.Err = &proxy.Error{Kind: drained, Server: failure.Server, Step: failure.Step, Err: errDrained}
	}
}

// failedByUpstream reports whether the upstream caused the failure.
func (x *exchange) failedByUpstream() bool {
	failure := x.failure()
	return failure != nil && failure.ByUpstream() && failure.Kind != drained
}

// A clientGone is the context of an exchange over HTTP/1. It ends when the client
// disconnects. Its channel is allocated only if something waits for the end. The
// zero value is ready for use.
type clientGone struct {
	mu   sync.Mutex
	done chan struct{} // guarded by mu; nil until Done is called
	gone bool          // guarded by mu
}

var _ context.Context = (*clientGone)(nil)

// end ends the context. It may be called more than once.
func (c *clientGone) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone && c.done != nil {
		close(c.done)
	}
	c.gone = true
}

// reset makes the context ready for the next exchange. Nothing may wait for it.
func (c *clientGone) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.gone = nil, false
}

// Done implements context.Context.
func (c *clientGone) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.gone {
			close(c.done)
		}
	}
	return c.done
}

// Err implements context.Context.
func (c *clientGone) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return context.Canceled
	}
	return nil
}

// Deadline implements context.Context.
func (c *clientGone) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value implements context.Context.
func (c *clientGone) Value(any) any { return nil }
