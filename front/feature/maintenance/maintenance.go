// Package maintenance responds while a route is not in service: the key maintenance.
package maintenance

import (
	"strconv"

	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/stage"
)

// A Response is the response while no server of the upstream accepts a connection. As a stage,
// it responds to all requests.
type Response struct {
	page   errorpages.Page // empty for the page of 503
	fields []stage.Field
	active bool // all requests get it
}

// New returns the response of a configuration, or nil if that is nil.
func New(c *Config) *Response {
	if c == nil {
		return nil
	}
	m := &Response{page: c.Page, active: c.Active}
	if c.RetryAfter > 0 {
		m.fields = []stage.Field{{Name: "Retry-After", Value: strconv.Itoa(int(c.RetryAfter.Seconds()))}}
	}
	return m
}

// Stage returns the stage of a route that is in maintenance, or nil.
func (m *Response) Stage() stage.Stage {
	if m == nil || !m.active {
		return nil
	}
	return m
}

// Apply implements stage.Stage.
func (m *Response) Apply(x *stage.Exchange) (responded bool) {
	x.Refusal = "maintenance"
	x.LeaveBody()
	if m.Send(x) != nil {
		x.Cut = true
	}
	return true
}

// Explain implements stage.Explainer.
func (m *Response) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{"responds with 503, because maintenance is active"}, true
}

// Send sends the response.
func (m *Response) Send(x *stage.Exchange) error {
	if m.page != nil {
		return m.page.Respond(x, 503, m.fields)
	}
	return x.RespondError(503, "", m.fields)
}
