// Package respond responds to the requests of a route with a fixed response: the key respond.
package respond

import (
	"fmt"

	"github.com/weirhq/weir/front/stage"
)

// A fixedResponse responds with the same status, fields and text to all requests.
type fixedResponse struct {
	status int
	fields []stage.Field
	text   string
}

// Action returns the action of a route, or nil.
func Action(r *Config) (stage.Action, error) {
	if r == nil {
		return nil, nil
	}
	f := &fixedResponse{status: r.Status, text: r.Text}
	if r.Text != "" {
		f.fields = []stage.Field{{Name: "Content-Type", Value: r.Type}, {Name: "X-Content-Type-Options", Value: "nosniff"}}
	}
	return f, nil
}

// Respond implements stage.Action. It responds with the error page of the status if there is no text.
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
func (f *fixedResponse) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{fmt.Sprintf("responds with %d and a body of %d bytes", f.status, len(f.text))}, true
}
