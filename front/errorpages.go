package front

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/proxy"
)

// errorPages are the bodies of error responses. The nil pointer has none. It implements
// stage.Pages.
type errorPages struct {
	byStatus map[int]page
	byClass  [2]page // of 4xx and 5xx
}

func newErrorPages(c *config.ErrorPages) *errorPages {
	if c == nil {
		return nil
	}
	p := &errorPages{byStatus: map[int]page{}}
	for _, e := range c.Pages {
		status, err := strconv.Atoi(e.Statuses)
		if err == nil {
			p.byStatus[status] = e.Files
		} else {
			p.byClass[e.Statuses[0]-'4'] = e.Files
		}
	}
	return p
}

// of returns the page of a status, which is empty if there is none.
func (p *errorPages) of(status int) page {
	if p == nil || status < 400 || status > 599 {
		return nil
	}
	if page := p.byStatus[status]; page != nil {
		return page
	}
	return p.byClass[status/100-4]
}

// Respond implements stage.Pages.
func (p *errorPages) Respond(x *stage.Exchange, status int, fields []proxy.Field) (found bool, err error) {
	page := p.of(status)
	if page == nil {
		return false, nil
	}
	return true, page.respond(x, status, fields)
}

// A page is the files of which a client gets one.
type page []config.PageFile

// choose returns the file whose type the client accepts with the highest weight, and of
// several the first.
func (p page) choose(accept string) *config.PageFile {
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
func (p page) appendFields(fields []proxy.Field, file *config.PageFile) []proxy.Field {
	fields = append(fields, proxy.Field{Name: "Content-Type", Value: file.Type},
		proxy.Field{Name: "X-Content-Type-Options", Value: "nosniff"})
	if len(p) > 1 {
		fields = append(fields, proxy.Field{Name: "Vary", Value: "Accept"})
	}
	return fields
}

// respond responds with a page that is not empty, and fields.
func (p page) respond(x *stage.Exchange, status int, fields []proxy.Field) error {
	file := p.choose(stage.Joined(x.Header, "Accept"))
	return x.Exchange.RespondWith(status, p.appendFields(fields[:len(fields):len(fields)], file), file.Body)
}

// respondToFailure responds to an exchange that has failed before a response began.
func respondToFailure(px *proxy.Exchange, status int, fields []proxy.Field) error {
	x := of(px)
	x.pacer.AllowLateResponse()
	if m := x.route.maintenance; m != nil && x.Failure().NotConnected() {
		return m.send(&x.Exchange)
	}
	return x.RespondError(status, "", fields)
}

// maintenance is the response while no server of the upstream accepts a connection. As a stage,
// it responds to all requests.
type maintenance struct {
	page   page // empty for the page of 503
	fields []proxy.Field
}

func newMaintenance(c *config.Maintenance) *maintenance {
	if c == nil {
		return nil
	}
	m := &maintenance{page: c.Files}
	if c.RetryAfter > 0 {
		m.fields = []proxy.Field{{Name: "Retry-After", Value: strconv.Itoa(int(c.RetryAfter.Seconds()))}}
	}
	return m
}

func (m *maintenance) Apply(x *stage.Exchange) (responded bool) {
	x.Refusal = "maintenance"
	x.LeaveBody()
	if m.send(x) != nil {
		x.Cut = true
	}
	return true
}

// Explain implements stage.Explainer.
func (m *maintenance) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{"responds with 503, because maintenance is active"}, true
}

// send sends the response.
func (m *maintenance) send(x *stage.Exchange) error {
	if m.page != nil {
		return m.page.respond(x, 503, m.fields)
	}
	return x.RespondError(503, "", m.fields)
}

// setErrors sets the responses of a route to errors. The configuration of the route replaces
// that of all routes.
func (r *route) setErrors(own *config.Route, all *config.Config) {
	r.pages = newErrorPages(cmp.Or(own.ErrorPages, all.ErrorPages))
	r.maintenance = newMaintenance(cmp.Or(own.Maintenance, all.Maintenance))
}
