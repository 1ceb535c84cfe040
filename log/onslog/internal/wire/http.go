package wire

import (
	"net/http"
	"strconv"
	"time"
)

// HTTPOption is an EventHTTP together with the two values that its pointers
// StatusCode and Duration would point to, which stay nil, so that one object
// holds all of it.
type HTTPOption struct {
	EventHTTP
	status int
	took   time.Duration
	timed  bool // took is known
}

// NewHTTP takes from the request what an event says about it. It returns a
// value and leaves it to its caller to make a pointer of it, since a function
// as small as that is inlined, and the option can then stay on the stack of
// the one who logs.
func NewHTTP(req *http.Request, statusCode int, length int64, startedAt, endedAt *time.Time) HTTPOption {
	port := 0
	if p := req.URL.Port(); p != "" {
		port, _ = strconv.Atoi(p) // what is too large is the largest, as in the original
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
