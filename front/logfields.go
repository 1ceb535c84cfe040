package front

import (
	"fmt"
	"slices"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/log"
)

// A logField is a field that a route adds to the completed events of its requests. Its value
// is the text of the template, if that is not nil.
type logField struct {
	key, text string
	made      *template.Template
}

// newLogFields returns the fields of a route with a parsed pattern.
func newLogFields(fields []config.Field, p *template.Pattern) ([]logField, error) {
	var all []logField
	for _, f := range fields {
		made, refused := template.Parse(f.Value, template.Header, p)
		if refused != nil {
			return nil, fmt.Errorf("the field %s of the log: %s", f.Name, refused.What)
		}
		field := logField{key: f.Name, made: made}
		if text, ok := made.Text(); ok {
			field.text, field.made = text, nil
		}
		all = append(all, field)
	}
	return all, nil
}

// loggedHeaders are the names of the header fields that are added to the completed event.
type loggedHeaders struct{ request, response []string }

// ofRoute returns h with the names that a route adds, or nil if it adds none.
func (h *loggedHeaders) ofRoute(r *config.Route) *loggedHeaders {
	if len(r.LogRequestFields)+len(r.LogResponseFields) == 0 {
		return nil
	}
	return &loggedHeaders{union(h.request, r.LogRequestFields), union(h.response, r.LogResponseFields)}
}

// union returns the names of both lists without duplicates.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// addLogFields adds the fields of the route to an event.
func (x *exchange) addLogFields(e log.Event) {
	v := template.Of(x.Exchange)
	for i := range x.route.logFields {
		f := &x.route.logFields[i]
		text := f.text
		if f.made != nil {
			text, _ = template.Text(x.Exchange, f.made, &v) // one that is too long is cut, as the log does with any value
		}
		e.Str(f.key, text)
	}
}
