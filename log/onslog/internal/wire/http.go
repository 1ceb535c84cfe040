package wire

import (
	"net/http"
	"strconv"
	"time"
)

// HTTPOption is an EventHTTP with its status code and duration stored by value.
// The pointers StatusCode and Duration stay nil, so that the option is a single
// object.
type HTTPOption struct {
	EventHTTP
	status int
	took   time.Duration
	timed  bool // took is valid
}

// NewHTTP returns the fields of a request and its response. It returns a value,
// not a pointer: the function that takes the pointer is small enough to be
// inlined, so that the option can stay on the stack of the function that logs.
func NewHTTP(req *http.Request, statusCode int, length int64, startedAt, endedAt *time.Time) HTTPOption {
	port := 0
	if p := req.URL.Port(); p != "" {
		port, _ = strconv.Atoi(p) // a number out of range becomes the largest int, as in the original
	}
	o := HTTPOption{
		EventHTTP: EventHTTP{
			Method:                req.Method,
			Scheme:                req.URL.Scheme,
			Host:                  req.URL.Hostname(),
			Port:                  port,
			Path:                  req.URL.Path,
			Query:                 req.URL.RawQuery,
			StartedAt:             startedAt,
			EndedAt:               endedAt,
			ResponseContentLength: length,
		},
		status: statusCode,
		timed:  startedAt != nil && endedAt != nil,
	}
	if o.timed {
		o.took = endedAt.Sub(*startedAt)
	}
	return o
}
