package stage

import (
	"context"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/router"
)

// An Exchange is one request and its response. It comes from a pool: neither it nor its strings are
// valid after the request has ended. Its request, with Method, Target, Header and Body, its edits, such
// as Send and Response, and its result are fields of the embedded struct, which go doc
// github.com/weirhq/weir/internal/proxying.Exchange describes.
type Exchange struct {
	proxying.Exchange

	// The request. Target is what the upstream gets, and may change.
	Path, Query string     // of the target that the client sent, still escaped
	Hostname    string     // of Host, without the port
	ClientAddr  netip.Addr // of the client, as trusted proxies report it
	Arrived     time.Time  // when the head was complete
	ID          string     // of its trace, in the log and in X-Request-Id
	Params      router.Params
	Preflight   bool // it announces another request (CORS), for which the route was chosen

	// What the completed event says about it.
	To        *Upstream // that the request is forwarded to
	User      string    // that an authentication has admitted
	Redirect  string    // the target of a redirect, as in the configuration
	Refusal   string    // why the front door itself responded
	Limit     string    // the limit that refused or ended the exchange
	Rewritten bool      // Target differs from the target that the client sent

	// Pages respond to errors in place of plain text. Nil for plain text.
	Pages Pages
	// Mirror gets the request when it is about to be sent. Nil for none.
	Mirror interface{ Offer(x *Exchange) }

	texts      []byte // made for this request; strings of fields and targets are views of it
	parameters []Parameter
	queryRead  bool
	client     Client // without filters
	filters    []Filter

	waitMu      sync.Mutex // guards the fields below
	gone        bool       // the client has disconnected
	stopWaiting context.CancelFunc
}

// A Parameter is a parameter of a query, unescaped.
type Parameter struct{ Name, Value string }

// longestTexts is the capacity above which the texts are not kept for the next exchange.
const longestTexts = 16 << 10

// Reset makes the exchange ready for the pool.
func (x *Exchange) Reset() {
	x.Exchange.Reset()
	x.Path, x.Query, x.Hostname, x.ID = "", "", "", ""
	x.ClientAddr, x.Arrived = netip.Addr{}, time.Time{}
	x.Params.Release()
	x.To, x.User, x.Redirect, x.Refusal, x.Limit = nil, "", "", "", ""
	x.Preflight, x.Rewritten = false, false
	x.Pages, x.Mirror = nil, nil
	if x.texts = x.texts[:0]; cap(x.texts) > longestTexts {
		x.texts = nil
	}
	clear(x.parameters)
	x.parameters, x.queryRead = x.parameters[:0], false
	clear(x.filters)
	x.client, x.filters = nil, x.filters[:0]
	x.gone, x.stopWaiting = false, nil
}

// Block runs a function that may wait, beside the other exchanges of the event loop.
func (x *Exchange) Block(f func()) {
	if x.Driver == nil {
		f()
		return
	}
	x.Driver.Block(f)
}

// WaitContext returns a context that ends when the client disconnects. The caller must call
// cancel.
func (x *Exchange) WaitContext() (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(context.Background())
	x.waitMu.Lock()
	defer x.waitMu.Unlock()
	if x.stopWaiting = cancel; x.gone {
		cancel()
	}
	return ctx, cancel
}

// Cancel ends the exchange because its client has disconnected, or is about to be disconnected.
func (x *Exchange) Cancel() {
	x.Exchange.Cancel()
	x.waitMu.Lock()
	defer x.waitMu.Unlock()
	if x.gone = true; x.stopWaiting != nil {
		x.stopWaiting()
	}
}

// Text returns the text that a function appends. It is valid until the exchange ends.
func (x *Exchange) Text(appendTo func(dst []byte) ([]byte, error)) (string, error) {
	start := len(x.texts)
	b, err := appendTo(x.texts)
	x.texts = b
	return httpsyntax.View(b[start:]), err
}

// Parameters returns the parameters of the query. Like net/url, it leaves out parameters
// with a semicolon or an invalid escape. The caller must not change the result.
func (x *Exchange) Parameters() []Parameter {
	if x.queryRead {
		return x.parameters
	}
	x.queryRead = true
	for rest := x.Query; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		if pair == "" || strings.IndexByte(pair, ';') >= 0 {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			continue
		}
		if value, err = url.QueryUnescape(value); err == nil {
			x.parameters = append(x.parameters, Parameter{name, value})
		}
	}
	return x.parameters
}
