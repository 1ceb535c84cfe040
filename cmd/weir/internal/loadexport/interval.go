package loadexport

import (
	"context"
	"net/url"
	"time"

	"github.com/weirhq/weir/load"
)

// An interval is the state of a run at one time. The counts are of the whole run so far.
type interval struct {
	at     time.Time
	result *load.Result
	last   bool
}

// A request is an encoded interval.
type request struct {
	message []byte
	points  int // of the metrics in it
}

// A protocol encodes intervals, and sends them to a server. Errors of Send are those of a [stream.Destination]. One
// goroutine at a time uses it.
type protocol interface {
	encode(interval) (request, error)
	Send(context.Context, request) error
	Close()
}

// withoutUser returns a URL without its user, password and query, for messages.
func withoutUser(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}
