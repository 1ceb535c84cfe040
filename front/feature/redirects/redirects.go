// Package redirects redirects the requests of a route, or of a line in the file of redirects: the keys
// redirect and redirects.
package redirects

import (
	"fmt"

	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/stage"
)

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
	x.Respond(r.target.Status, "", stage.Field{Name: "Location", Value: location})
}

// Action returns the action of a route, or nil.
func Action(c *Config, p *template.Pattern) (stage.Action, error) {
	if c == nil {
		return nil, nil
	}
	target, refused := c.Target(p)
	if refused != nil {
		return nil, fmt.Errorf("redirect %q: %s", c.To, refused.What)
	}
	return redirectTo{target}, nil
}

// To returns the action that redirects to a target.
func To(target *redirect.Target) stage.Action { return redirectTo{target} }

// Explain implements stage.Explainer.
func (r redirectTo) Explain(x *stage.Exchange) (steps []string, ends bool) {
	v := template.Of(x)
	location, err := r.target.AppendLocation(nil, &v)
	if err != nil {
		return []string{"responds with 414: the address of the redirect would be too long"}, true
	}
	return []string{fmt.Sprintf("redirects with %d to %s", r.target.Status, location)}, true
}
