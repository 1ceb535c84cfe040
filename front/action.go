package front

import (
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/proxy"
)

// newAction returns the action of a route. upstreams are the upstreams by name.
func newAction(r config.Route, upstreams map[string]*upstream, m *metrics) (action, error) {
	if r.Files != nil {
		return newServeFiles(r, m), nil
	}
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

// respond responds with the error page of the status if there is no text.
func (f *fixedResponse) respond(x *exchange) {
	if p := x.pages.of(f.status); p != nil && f.text == "" {
		x.leaveBody()
		x.Cut = x.respondWithPage(p, f.status, f.fields) != nil
		return
	}
	x.respondWith(f.status, f.fields, f.text)
}
