package front

import (
	"fmt"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/proxy"
)

// newAction returns the action of a route with a parsed pattern. upstreams are the upstreams by
// name.
func newAction(r config.Route, p *template.Pattern, upstreams map[string]*upstream, m *metrics) (action, error) {
	switch {
	case r.Files != nil:
		return newServeFiles(r, m), nil
	case r.Respond != nil:
		return newFixedResponse(r.Respond), nil
	case r.Redirect != nil:
		return newRedirect(r.Redirect, p)
	}
	f := forwarding{timeout: r.Timeout, try: r.TryTimeout, upgrade: r.Upgrade}
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
	v := x.values()
	start := len(x.texts)
	b, err := r.target.AppendLocation(x.texts, &v)
	if x.texts = b; err != nil {
		x.refuse(414, "the address of the redirect would be too long")
		return
	}
	x.redirect = r.target.To
	x.respond(r.target.Status, "", proxy.Field{Name: "Location", Value: view(b[start:])})
}

func newRedirect(r *config.RouteRedirect, p *template.Pattern) (action, error) {
	target, refused := redirect.ParseTemplate(r.To, r.Status, redirect.Query(r.Query), p)
	if refused != nil {
		return nil, fmt.Errorf("redirect %q: %s", r.To, refused.What)
	}
	return redirectTo{target}, nil
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
