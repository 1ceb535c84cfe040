package front

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
	"github.com/weirhq/weir/router"
)

// An exchange is one request, its response and all state that the front door
// keeps for them. It comes from a pool.
type exchange struct {
	proxy.Exchange

	path, query string      // of the target, still escaped
	parameters  []parameter // of query, if queryRead is true
	queryRead   bool
	began       time.Time
	client      netip.Addr        // as reported by trusted proxies
	tls         *handshake.Client // of the connection; nil without TLS
	trace       trace
	found       *route // result of the lookup
	allow       string // the methods that the path has routes for, if found is nil
	preflight   bool   // found is the route of the request that a CORS preflight announces
	events      eventSet
	route       *route                          // found, once the rate limit of all requests has let it pass
	to          *upstream                       // the upstream that the request is forwarded to
	mirror      interface{ offer(x *exchange) } // of the route; nil without one
	redirect    string                          // the target of a redirect, as in the configuration
	user        string                          // that basic_auth has admitted
	rewritten   bool                            // Target differs from the one that the client sent
	texts       []byte                          // made for this request; strings of fields and targets are views of it
	filters     []filter                        // of the response
	pages       *errorPages                     // of the route, or of requests without one
	announced   *proxy.Server                   // the server in the event "proxying request"
	params      router.Params
	http        log.HTTP
	encoded     log.EncodedHTTP // of http, if it has several events
	clientText  [64]byte        // buffer of http.Client
	sampled     sampled         // selects the events that are measured; keeps its state in the pool
	ambiguity   string          // why the request is ambiguous
	altSvc      string          // of the client's listener: where it serves HTTP/3; "" if it does not
	refusal     string          // why Weir itself responded; "" if it did not

	pacer   pacer
	inRoute *gate     // the gate of the route, while the request is in it
	inAll   *gate     // the gate of all requests, while the request is in it
	limit   limitName // the limit that refused or ended the exchange

	waitMu      sync.Mutex // guards the fields below
	gone        bool       // the client has disconnected
	stopWaiting context.CancelFunc
}

// A parameter is a parameter of a query, unescaped.
type parameter struct{ name, value string }

// longestTexts is the capacity above which exchange.texts is not kept for the next exchange.
const longestTexts = 16 << 10

// reset makes the exchange ready for the pool.
func (x *exchange) reset() {
	x.Exchange.Reset()
	x.path, x.query, x.ambiguity, x.refusal, x.altSvc = "", "", "", "", ""
	x.began = time.Time{}
	x.client, x.tls = netip.Addr{}, nil
	x.found, x.allow, x.route, x.announced, x.preflight = nil, "", nil, nil, false
	x.to, x.mirror, x.redirect, x.user, x.rewritten = nil, nil, "", "", false
	if x.texts = x.texts[:0]; cap(x.texts) > longestTexts {
		x.texts = nil
	}
	clear(x.filters)
	x.filters = x.filters[:0]
	clear(x.parameters)
	x.parameters, x.queryRead = x.parameters[:0], false
	x.params.Release()
	x.pacer.reset()
	x.gone, x.stopWaiting = false, nil
	x.inRoute, x.inAll, x.limit = nil, nil, ""
	x.http = log.HTTP{}
	x.trace.reset()
}

// waitContext returns a context that ends when the client disconnects. The caller must call
// cancel.
func (x *exchange) waitContext() (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(context.Background())
	x.waitMu.Lock()
	defer x.waitMu.Unlock()
	if x.stopWaiting = cancel; x.gone {
		cancel()
	}
	return ctx, cancel
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
	x.waitMu.Lock()
	defer x.waitMu.Unlock()
	if x.gone = true; x.stopWaiting != nil {
		x.stopWaiting()
	}
}

// leaveGates releases the in-flight slots of the request.
func (x *exchange) leaveGates() {
	for _, entered := range []**gate{&x.inAll, &x.inRoute} {
		if g := *entered; g != nil {
			*entered = nil
			if g.adaptive {
				g.inFlight.LeaveAfter(time.Now(), x.serviceTime())
			} else {
				g.leave()
			}
		}
	}
}

// serviceTime returns the time that the upstream took for a request, for a limit that follows
// it. It is 0 if the client determined it, if the upstream has rejected the request, or if weir has
// responded itself.
func (x *exchange) serviceTime() time.Duration {
	failure := x.failure()
	switch {
	case x.Upgraded, x.refusal != "", x.Status == 503:
	case x.Length < 0, x.Length > proxy.ShortBody: // the client was sending meanwhile
	case failure != nil && failure.ByClient():
	default:
		return x.Waited
	}
	return 0
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

// fileFailed is the kind of failure of an exchange whose file cannot be opened or read.
const fileFailed proxy.Kind = "file"

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
	return failure != nil && failure.ByUpstream() && failure.Kind != drained && failure.Kind != fileFailed
}

// A filter changes the response of one request. It is the exchange's Client and passes the
// response on to the Client that it replaces.
type filter interface {
	proxy.Client

	// end passes on the rest of the response. It is called once, after the action. complete
	// is false if the response was cut, so that the rest must not make it look complete.
	end(complete bool) error
}

// addFilter adds a filter, which has wrapped x.Client.
func (x *exchange) addFilter(f filter) {
	x.Client = f
	x.filters = append(x.filters, f)
}

// endFilters ends the filters, the one that is next to the action first.
func (x *exchange) endFilters() {
	for n := len(x.filters); n > 0; n = len(x.filters) {
		f := x.filters[n-1] // ended only once, even if it panics
		x.filters[n-1], x.filters = nil, x.filters[:n-1]
		if err := f.end(!x.Cut); err != nil {
			x.cut(err)
		}
		x.Client = &x.pacer
	}
}

// cut ends the response because of an error of its Client.
func (x *exchange) cut(err error) {
	x.Cut = true
	if x.Err != nil {
		return
	}
	var known *proxy.Error
	if !errors.As(err, &known) {
		known = &proxy.Error{Kind: proxy.ClientGone, Step: "sending the answer", Err: err}
	}
	x.Err = known
}
