// Package errorpages responds to errors with pages, also in place of the errors of upstreams:
// the key error_pages.
package errorpages

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// Pages are the bodies of error responses. The nil pointer has none. It implements
// stage.Pages.
type Pages struct {
	byStatus [200]Page // from 400

	intercept bool // the pages replace the bodies of upstreams too
}

// New returns the pages of a configuration, or nil if that is nil.
func New(c *Config) *Pages {
	if c == nil {
		return nil
	}
	p := &Pages{intercept: c.Intercept}
	size := func(e StatusPage) int { return e.Statuses.Last - e.Statuses.First }
	for _, e := range slices.SortedStableFunc(slices.Values(c.Pages), func(a, b StatusPage) int { return size(b) - size(a) }) {
		for status := e.Statuses.First; status <= e.Statuses.Last; status++ {
			p.byStatus[status-400] = e.Page
		}
	}
	return p
}

// of returns the page of a status, which is empty if there is none.
func (p *Pages) of(status int) Page {
	if p == nil || status < 400 || status > 599 {
		return nil
	}
	return p.byStatus[status-400]
}

// Respond implements stage.Pages.
func (p *Pages) Respond(x *stage.Exchange, status int, fields []stage.Field) (found bool, err error) {
	page := p.of(status)
	if page == nil {
		return false, nil
	}
	return true, page.Respond(x, status, fields)
}

// choose returns the file whose type the client accepts with the highest weight, and of
// several the first.
func (p Page) choose(accept string) *File {
	best, chosen := 0, 0
	for i := range p {
		name, _, _ := strings.Cut(p[i].Type, ";")
		if q := httpsyntax.MediaQuality(accept, name); q > best {
			best, chosen = q, i
		}
	}
	return &p[chosen]
}

// appendFields appends the fields of a file of the page.
func (p Page) appendFields(fields []stage.Field, file *File) []stage.Field {
	fields = append(fields, stage.Field{Name: "Content-Type", Value: file.Type},
		stage.Field{Name: "X-Content-Type-Options", Value: "nosniff"})
	if len(p) > 1 {
		fields = append(fields, stage.Field{Name: "Vary", Value: "Accept"})
	}
	return fields
}

// Respond responds with a page that is not empty, and fields.
func (p Page) Respond(x *stage.Exchange, status int, fields []stage.Field) error {
	file := p.choose(stage.Joined(x.Header, "Accept"))
	return x.Exchange.RespondWith(status, p.appendFields(fields[:len(fields):len(fields)], file), file.Body)
}
