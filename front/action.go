package front

import (
	"fmt"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/proxy"
)

// newAction returns the action of a route. upstreams are the upstreams by name.
func newAction(r config.Route, upstreams map[string]*upstream) (action, error) {
	if r.Respond != nil {
		return newFixedResponse(r.Respond), nil
	}
	f := forwarding{timeout: r.Timeout, upgrade: r.Upgrade}
	if r.Split != nil {
		return newSplit(r, f, upstreams)
	}
	to, err := upstreamOf(upstreams, r.To)
	if err != nil {
		return nil, err
	}
	return &forwardTo{f, to}, nil
}

func upstreamOf(upstreams map[string]*upstream, name string) (*upstream, error) {
	if up := upstreams[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("there is no upstream %q", name)
}

// forwarding forwards the requests of a route to an upstream.
type forwarding struct {
	timeout time.Duration
	upgrade []string
}

func (f *forwarding) forward(x *exchange, to *upstream) {
	x.Timeout, x.Upgrade = f.timeout, f.upgrade
	x.to = to
	to.proxy.Serve(&x.Exchange)
}

// forwardTo forwards requests to one upstream.
type forwardTo struct {
	forwarding
	to *upstream
}

func (f *forwardTo) respond(x *exchange) { f.forward(x, f.to) }

// redirectTo redirects requests.
type redirectTo struct{ target *redirect.Target }

func (r redirectTo) respond(x *exchange) {
	x.redirect = r.target.To
	x.respond(r.target.Status, "", proxy.Field{Name: "Location", Value: r.target.Location(x.path, x.query)})
}

// A fixedResponse responds with the same status, fields and text to all requests.
type fixedResponse struct {
	status int
	fields []proxy.Field
	text   string
}

func newFixedResponse(r *config.FixedResponse) *fixedResponse {
	f := &fixedResponse{status: r.Status, text: r.Text}
	if r.Text != "" {
		f.fields = []proxy.Field{{Name: "Content-Type", Value: r.Type}, {Name: "X-Content-Type-Options", Value: "nosniff"}}
	}
	return f
}

func (f *fixedResponse) respond(x *exchange) {
	x.respondWith(f.status, f.fields, f.text)
}
