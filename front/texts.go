package front

import "github.com/weirhq/weir/front/internal/template"

// values returns the values of the request for templates.
func (x *exchange) values() template.Values {
	return template.Values{
		Params: &x.params, Path: x.path, Query: x.query, Host: x.http.Host, Method: x.Method, ID: x.trace.id,
		Client: x.client,
	}
}

// text returns the text of a template, which is valid until the exchange ends. The error is
// [template.ErrTooLong].
func (x *exchange) text(t *template.Template, v *template.Values) (string, error) {
	start := len(x.texts)
	b, err := t.Append(x.texts, v)
	x.texts = b
	return view(b[start:]), err
}
