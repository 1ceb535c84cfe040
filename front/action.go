package front

import (
	"fmt"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/proxy"
)

// newAction returns the action of a route with a parsed pattern. upstreams are the upstreams by
// name.
func newAction(r config.Route, p *template.Pattern, upstreams map[string]*stage.Upstream, m *metrics) (stage.Action, error) {
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
	to *stage.Upstream
}

func (f *forwardTo) Respond(x *stage.Exchange) { f.forward(x, f.to) }

// redirectTo redirects requests.
type redirectTo struct{ target *redirect.Target }

func (r redirectTo) Respond(x *stage.Exchange) {
	v := template.Of(x)
	location, err := x.Text(func(b []byte) ([]byte, error) { return r.target.AppendLocation(b, &v) })
	if err != nil {
		x.Refuse(414, "the address of the redirect would be too long")
		return
	}
	x.Redirect = r.target.To
	x.Respond(r.target.Status, "", proxy.Field{Name: "Location", Value: location})
}

func newRedirect(r *config.RouteRedirect, p *template.Pattern) (stage.Action, error) {
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
func (f *fixedResponse) Respond(x *stage.Exchange) {
	if f.text == "" && x.Pages != nil {
		x.LeaveBody()
		if found, err := x.Pages.Respond(x, f.status, f.fields); found {
			x.Cut = err != nil
			return
		}
	}
	x.RespondWith(f.status, f.fields, f.text)
}

// Explain implements stage.Explainer.
func (f *forwardTo) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{"forwards to the " + f.to.About}, true
}

// Explain implements stage.Explainer.
func (r redirectTo) Explain(x *stage.Exchange) (steps []string, ends bool) {
	v := template.Of(x)
	location, err := r.target.AppendLocation(nil, &v)
	if err != nil {
		return []string{"responds with 414: the address of the redirect would be too long"}, true
	}
	return []string{fmt.Sprintf("redirects with %d to %s", r.target.Status, location)}, true
}

// Explain implements stage.Explainer.
func (f *fixedResponse) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{fmt.Sprintf("responds with %d and a body of %d bytes", f.status, len(f.text))}, true
}
