package stage

import (
	"errors"

	"github.com/weirhq/weir/internal/proxying"
)

// AddFilter adds a filter, which has wrapped x.Client.
func (x *Exchange) AddFilter(f Filter) {
	if len(x.filters) == 0 {
		x.client = x.Client
	}
	x.Client = f
	x.filters = append(x.filters, f)
}

// EndFilters ends the filters, beginning next to the action. The front door calls it after the
// action.
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
	var known *proxying.Error
	if !errors.As(err, &known) {
		known = &proxying.Error{Kind: proxying.ClientGone, Step: "sending the response", Err: err}
	}
	x.Err = known
}
