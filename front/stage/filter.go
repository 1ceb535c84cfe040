package stage

import (
	"errors"

	"github.com/weirhq/weir/proxy"
)

// A Filter changes the response of one request. It is the exchange's Client and passes the
// response on to the Client that it replaces.
type Filter interface {
	proxy.Client

	// End passes on the rest of the response. It is called once, after the action. complete
	// is false if the response was cut, so that the rest must not make it look complete.
	End(complete bool) error
}

// AddFilter adds a filter, which has wrapped x.Client.
func (x *Exchange) AddFilter(f Filter) {
	if len(x.filters) == 0 {
		x.client = x.Client
	}
	x.Client = f
	x.filters = append(x.filters, f)
}

// EndFilters ends the filters, the one that is next to the action first. The front door calls it
// after the action.
func (x *Exchange) EndFilters() {
	for n := len(x.filters); n > 0; n = len(x.filters) {
		f := x.filters[n-1] // ended only once, even if it panics
		x.filters[n-1], x.filters = nil, x.filters[:n-1]
		if err := f.End(!x.Cut); err != nil {
			x.cut(err)
		}
		x.Client = x.client
	}
}

// cut ends the response because of an error of its Client.
func (x *Exchange) cut(err error) {
	x.Cut = true
	if x.Err != nil {
		return
	}
	var known *proxy.Error
	if !errors.As(err, &known) {
		known = &proxy.Error{Kind: proxy.ClientGone, Step: "sending the answer", Err: err}
	}
	x.Err = known
}
