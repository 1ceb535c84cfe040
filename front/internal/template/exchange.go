package template

import "github.com/weirhq/weir/front/stage"

// Of returns the values of the request of an exchange.
func Of(x *stage.Exchange) Values {
	return Values{
		Params: &x.Params, Path: x.Path, Query: x.Query, Host: x.Hostname, Method: x.Method, ID: x.ID,
		Client: x.ClientAddr,
	}
}

// Text returns the text of a template, which is valid until the exchange ends. The error is
// [ErrTooLong].
func Text(x *stage.Exchange, t *Template, v *Values) (string, error) {
	return x.Text(func(b []byte) ([]byte, error) { return t.Append(b, v) })
}
