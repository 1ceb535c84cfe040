package upstreams

import (
	"time"

	"github.com/weirhq/weir/front/statuses"
)

// Health configures the active health checks of the servers of an upstream.
type Health struct {
	Path     string        // of the request, escaped, perhaps with a query
	Method   string        // GET (the default), HEAD or OPTIONS
	Host     string        // empty, the default, means the host of the server's URL
	Interval time.Duration // at least 100ms; default 5s
	Timeout  time.Duration // of a whole check; default 2s
	Status   statuses.Set  // of a healthy server; default 200-399
	Body     string        // a regular expression that the body of a healthy server matches; empty for any body

	// Rise and Fall are how many checks in a row make a server healthy and unhealthy. At least 1;
	// default 2 and 3.
	Rise, Fall int
}

// Outliers configures passive health checks: servers whose responses are worse than the
// responses of the others are ejected.
type Outliers struct {
	// Consecutive is the number of failures in a row. Zero is off; default 5.
	Consecutive int

	// FailureRate is by how many percentage points the share of failed requests may exceed the
	// median of the other servers. Zero is off; default 30.
	FailureRate int

	// Latency is the factor by which the median time of responses may exceed the median of the
	// other servers. Zero, the default, is off.
	Latency float64

	Interval              time.Duration // for which servers are compared; at least 1s, default 10s
	Requests              int           // in an interval, that a server needs to be compared; default 20
	Ejection, MaxEjection time.Duration // the time of the first ejection and of the longest one; default 30s and 5m
	Status                statuses.Set  // of responses that count as failures; default 502-504
}

// DefaultHealth returns the defaults of the keys below health. The caller owns the result.
func DefaultHealth() *Health {
	return &Health{
		Method: "GET", Interval: 5 * time.Second, Timeout: 2 * time.Second, Status: statuses.Set{{First: 200, Last: 399}}, Rise: 2, Fall: 3,
	}
}

// OutliersUnset returns the value of outliers if the file does not have the key: a server is ejected after failures in
// a row that are no responses. A status is not a failure, because it may be a normal response of a service. The caller
// owns the result.
func OutliersUnset() *Outliers {
	return &Outliers{
		Consecutive: 5, Interval: 10 * time.Second, Requests: 20, Ejection: 10 * time.Second, MaxEjection: 5 * time.Minute,
	}
}

// DefaultOutliers returns the defaults of the keys below outliers. The caller owns the result.
func DefaultOutliers() *Outliers {
	return &Outliers{
		Consecutive: 5, FailureRate: 30, Interval: 10 * time.Second, Requests: 20, Ejection: 30 * time.Second,
		MaxEjection: 5 * time.Minute, Status: statuses.Set{{First: 502, Last: 504}},
	}
}
