// Package edits changes the header fields of requests before they are forwarded, and of responses: the keys
// request_headers and response_headers.
package edits

import (
	"fmt"
	"slices"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// requestEdits are a stage that changes requests before they are forwarded.
type requestEdits struct {
	host   *template.Template // nil keeps the host
	fields fieldEdits
}

// Requests returns the stage that edits the requests of a route with a pattern, or nil if there are no edits.
func Requests(c Config, p *template.Pattern) (stage.Stage, error) {
	e := new(requestEdits)
	fields := c
	fields.Set = nil
	for _, f := range c.Set {
		if !httpsyntax.EqualFold(f.Name, "Host") {
			fields.Set = append(fields.Set, f)
			continue
		}
		host, refused := template.Parse(f.Value, template.Host, p)
		if refused != nil {
			return nil, fmt.Errorf("the host %q: %s", f.Value, refused.What)
		}
		e.host = host
	}
	edits, err := newFieldEdits(fields, p)
	if err != nil {
		return nil, err
	}
	if edits != nil {
		e.fields = *edits
	} else if e.host == nil {
		return nil, nil
	}
	return e, nil
}

func (e *requestEdits) Apply(x *stage.Exchange) (responded bool) {
	v := template.Of(x)
	var err error
	if e.host != nil {
		x.SendHost, err = template.Text(x, e.host, &v)
	}
	if err == nil {
		x.Send, x.SendAdd, err = e.fields.appendTo(x, &v, x.Send, x.SendAdd)
	}
	if err != nil {
		x.Refuse(414, "a header field for the upstream would be too long")
		return true
	}
	x.SendRemove = stage.JoinNames(x.SendRemove, e.fields.remove)
	return false
}

// fieldEdits change header fields. They do not change themselves, so exchanges share them.
type fieldEdits struct {
	set, add []fieldEdit
	remove   []string
}

// A fieldEdit is a field. Its value is the template's text if it is not nil.
type fieldEdit struct {
	stage.Field
	made *template.Template
}

// newFieldEdits returns nil if there are none.
func newFieldEdits(c Config, p *template.Pattern) (*fieldEdits, error) {
	if len(c.Set)+len(c.Add)+len(c.Remove) == 0 {
		return nil, nil
	}
	e := &fieldEdits{remove: c.Remove}
	for _, list := range []struct {
		from []Field
		to   *[]fieldEdit
	}{{c.Set, &e.set}, {c.Add, &e.add}} {
		for _, f := range list.from {
			t, refused := template.Parse(f.Value, template.Header, p)
			if refused != nil {
				return nil, fmt.Errorf("the header field %s: %s", f.Name, refused.What)
			}
			edit := fieldEdit{Field: stage.Field{Name: f.Name}, made: t}
			if text, fixed := t.Text(); fixed {
				edit.Value, edit.made = text, nil
			}
			*list.to = append(*list.to, edit)
		}
	}
	return e, nil
}

// Responses returns the stage that edits the responses of a route with a pattern, or nil if there are no edits.
func Responses(c Config, p *template.Pattern) (stage.Stage, error) {
	e, err := newFieldEdits(c, p)
	if e == nil {
		return nil, err
	}
	return (*responseEdits)(e), nil
}

// responseEdits are a stage that changes the response, also one that is made here.
type responseEdits fieldEdits

func (e *responseEdits) Apply(x *stage.Exchange) (responded bool) {
	x.Response = slices.DeleteFunc(x.Response, e.edits)
	v := template.Of(x)
	var err error
	if x.Response, x.ResponseAdd, err = (*fieldEdits)(e).appendTo(x, &v, x.Response, x.ResponseAdd); err != nil {
		x.Refuse(414, "a header field of the response would be too long")
		return true
	}
	x.ResponseRemove = stage.JoinNames(x.ResponseRemove, e.remove)
	return false
}

// edits reports whether a field that the front door sets, such as Strict-Transport-Security, is replaced or removed.
func (e *responseEdits) edits(f stage.Field) bool {
	for i := range e.set {
		if stage.Named(&f, e.set[i].Name) {
			return true
		}
	}
	return stage.HasName(e.remove, f.Name)
}

// appendTo appends the fields to the two lists.
func (e *fieldEdits) appendTo(
	x *stage.Exchange, v *template.Values, set, add []stage.Field,
) (_, _ []stage.Field, err error) {
	if set, err = appendFields(x, set, e.set, v); err == nil {
		add, err = appendFields(x, add, e.add, v)
	}
	return set, add, err
}

func appendFields(x *stage.Exchange, dst []stage.Field, edits []fieldEdit, v *template.Values) ([]stage.Field, error) {
	for i := range edits {
		f := edits[i].Field
		if t := edits[i].made; t != nil {
			var err error
			if f.Value, err = template.Text(x, t, v); err != nil {
				return dst, err
			}
		}
		dst = append(dst, f)
	}
	return dst, nil
}

// Explain implements stage.Explainer.
func (e *requestEdits) Explain(x *stage.Exchange) (steps []string, ends bool) {
	v := template.Of(x)
	if e.host != nil {
		host, _ := e.host.Append(nil, &v)
		steps = append(steps, "changes the host to "+string(host))
	}
	return append(steps, e.fields.explain(x, "request")...), false
}

// Explain implements stage.Explainer.
func (e *responseEdits) Explain(x *stage.Exchange) (steps []string, ends bool) {
	return (*fieldEdits)(e).explain(x, "response"), false
}

// explain returns the edits of a message.
func (e *fieldEdits) explain(x *stage.Exchange, message string) (steps []string) {
	v := template.Of(x)
	set, add, err := e.appendTo(x, &v, nil, nil)
	if err != nil {
		return []string{"responds with 414: a header field of the " + message + " would be too long"}
	}
	for _, name := range e.remove {
		steps = append(steps, "removes "+name+" from the "+message)
	}
	for _, f := range set {
		steps = append(steps, "sets "+f.Name+" of the "+message+" to "+shown(f))
	}
	for _, f := range add {
		steps = append(steps, "adds "+f.Name+": "+shown(f)+" to the "+message)
	}
	return steps
}

// shown returns the value of a field, unless it is secret.
func shown(f stage.Field) string {
	if scalar.IsSecretHeader(f.Name) {
		return "[redacted]"
	}
	return f.Value
}
