package front

import (
	"errors"
	"fmt"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/rewrite"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/proxy"
)

// addEdits adds the edits of requests and responses to a route with a parsed pattern.
func (r *route) addEdits(c config.Route, p *template.Pattern) error {
	requests, err := newRequestEdits(c, p)
	if err != nil {
		return err
	}
	if requests != nil {
		r.stages = append(r.stages, requests)
	}
	responses, err := newFieldEdits(c.ResponseHeaders, p)
	if responses != nil {
		r.responses = (*responseEdits)(responses)
	}
	return err
}

// requestEdits are a stage that changes requests before they are forwarded. It is the last
// stage of a route, so that the others see the request of the client.
type requestEdits struct {
	rewrite *rewrite.Rewrite // nil keeps the target
	host    *template.Template
	fields  fieldEdits
}

// newRequestEdits returns the edits of a route's requests, or nil if there are none.
func newRequestEdits(r config.Route, p *template.Pattern) (*requestEdits, error) {
	e := new(requestEdits)
	if r.StripPrefix != "" || r.AddPrefix != "" || r.Rewrite != "" {
		var err error
		if e.rewrite, err = newRewrite(r, p); err != nil {
			return nil, err
		}
	}
	fields := r.RequestHeaders
	fields.Set = nil
	for _, f := range r.RequestHeaders.Set {
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
	} else if e.rewrite == nil && e.host == nil {
		return nil, nil
	}
	return e, nil
}

func newRewrite(r config.Route, p *template.Pattern) (*rewrite.Rewrite, error) {
	w, refused := rewrite.Parse(r.StripPrefix, r.AddPrefix, r.Rewrite, p)
	for _, why := range refused {
		if why != nil {
			return nil, errors.New(why.What)
		}
	}
	return w, nil
}

func (e *requestEdits) apply(x *exchange) (responded bool) {
	v := x.values()
	if e.rewrite != nil {
		start := len(x.texts)
		b, status, why := e.rewrite.Append(x.texts, &v, x.Target[len(x.path):])
		if x.texts = b; status != 0 {
			x.refuse(status, why)
			return true
		}
		x.Target, x.rewritten = view(b[start:]), true
	}
	var err error
	if e.host != nil {
		x.SendHost, err = x.text(e.host, &v)
	}
	if err == nil {
		x.Send, x.SendAdd, err = e.fields.appendTo(x, &v, x.Send, x.SendAdd)
	}
	if err != nil {
		x.refuse(414, "a header field for the upstream would be too long")
		return true
	}
	x.SendRemove = joinNames(x.SendRemove, e.fields.remove)
	return false
}

// fieldEdits change header fields. They do not change themselves, so exchanges share them.
type fieldEdits struct {
	set, add []fieldEdit
	remove   []string
}

// A fieldEdit is a field. Its value is the template's text if it is not nil.
type fieldEdit struct {
	proxy.Field
	made *template.Template
}

// newFieldEdits returns nil if there are none.
func newFieldEdits(c config.FieldEdits, p *template.Pattern) (*fieldEdits, error) {
	if len(c.Set)+len(c.Add)+len(c.Remove) == 0 {
		return nil, nil
	}
	e := &fieldEdits{remove: c.Remove}
	for _, list := range []struct {
		from []config.Field
		to   *[]fieldEdit
	}{{c.Set, &e.set}, {c.Add, &e.add}} {
		for _, f := range list.from {
			t, refused := template.Parse(f.Value, template.Header, p)
			if refused != nil {
				return nil, fmt.Errorf("the header field %s: %s", f.Name, refused.What)
			}
			edit := fieldEdit{Field: proxy.Field{Name: f.Name}, made: t}
			if text, fixed := t.Text(); fixed {
				edit.Value, edit.made = text, nil
			}
			*list.to = append(*list.to, edit)
		}
	}
	return e, nil
}

// responseEdits are a stage that changes the response, also one that is made here.
type responseEdits fieldEdits

func (e *responseEdits) apply(x *exchange) (responded bool) {
	v := x.values()
	var err error
	if x.Answer, x.AnswerAdd, err = (*fieldEdits)(e).appendTo(x, &v, x.Answer, x.AnswerAdd); err != nil {
		x.refuse(414, "a header field of the response would be too long")
		return true
	}
	x.AnswerRemove = joinNames(x.AnswerRemove, e.remove)
	return false
}

// appendTo appends the fields to the two lists.
func (e *fieldEdits) appendTo(x *exchange, v *template.Values, set, add []proxy.Field) (_, _ []proxy.Field, err error) {
	if set, err = x.appendFields(set, e.set, v); err == nil {
		add, err = x.appendFields(add, e.add, v)
	}
	return set, add, err
}

func (x *exchange) appendFields(dst []proxy.Field, edits []fieldEdit, v *template.Values) ([]proxy.Field, error) {
	for i := range edits {
		f := edits[i].Field
		if t := edits[i].made; t != nil {
			var err error
			if f.Value, err = x.text(t, v); err != nil {
				return dst, err
			}
		}
		dst = append(dst, f)
	}
	return dst, nil
}
