package health

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/internal/proxying"
)

// A Check is a health check of a server: a request, and the responses of a healthy server. Its
// fields must not change.
type Check struct {
	Method, Path string
	Host         string // empty means the host of the server's URL
	Interval     time.Duration
	Timeout      time.Duration // of a whole check
	Statuses     statuses.Set
	Body         *regexp.Regexp // that the body matches; nil for any body
	Rise, Fall   int            // results in a row that change the state
}

// maxBody is the part of a body, in bytes, that is read.
const maxBody = 64 << 10

// userAgent lets services recognise the requests, for example in their logs.
const userAgent = "weir-health-check"

// errEnough ends a response of which enough was read.
var errEnough = errors.New("enough was read")

// errOurs means that this process could not send the check.
var errOurs = errors.New("the check could not be sent")

// do checks a server. It returns nil if the server is healthy, or else the reason. The error
// wraps errOurs if nothing is known about the server.
func (c *Check) do(ctx context.Context, up *proxying.Upstream, s *proxying.Server) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	r := &response{wantsBody: c.Body != nil}
	x := &r.Exchange
	x.Method, x.Target, x.Host, x.Scheme = c.Method, c.Path, c.hostOf(s), "http"
	x.Peer, x.Timeout, x.Client = netip.AddrFrom4([4]byte{127, 0, 0, 1}), c.Timeout, r
	x.Header = []proxying.Field{{Name: "User-Agent", Value: userAgent}, {Name: "Accept", Value: "*/*"}}
	release := proxying.CancelWith(ctx, x)
	up.Check(s, x)
	release()
	var failed *proxying.Error
	switch {
	case x.Err == nil || errors.Is(x.Err, errEnough):
		return c.judge(r)
	case ctx.Err() != nil:
		return fmt.Errorf("no response within %v", c.Timeout)
	case errors.As(x.Err, &failed) && !failed.ByUpstream():
		return fmt.Errorf("%w: %w", errOurs, x.Err)
	}
	return x.Err
}

// hostOf returns the Host of the request.
func (c *Check) hostOf(s *proxying.Server) string {
	if c.Host != "" {
		return c.Host
	}
	_, host, ok := strings.Cut(s.URL(), "://")
	if !ok {
		return "localhost" // a Unix socket
	}
	if i := strings.IndexAny(host, "/#"); i >= 0 {
		host = host[:i]
	}
	return host
}

// judge returns the reason why a complete response is not that of a healthy server, or nil.
func (c *Check) judge(r *response) error {
	switch {
	case !c.Statuses.Contains(r.status):
		return fmt.Errorf("status %d, want %v", r.status, c.Statuses)
	case c.Body != nil && !c.Body.Match(r.body):
		return fmt.Errorf("the body does not match %s", c.Body)
	}
	return nil
}

// A response is an exchange with a server that is checked, and its Client.
type response struct {
	proxying.Exchange
	wantsBody bool
	status    int
	body      []byte // at most maxBody
}

// Informational implements proxying.Client.
func (r *response) Informational(int, []proxying.Field) error { return nil }

// Head implements proxying.Client.
func (r *response) Head(status int, _ []proxying.Field, _ int64) error {
	r.status = status
	if !r.wantsBody {
		return errEnough
	}
	return nil
}

// Room implements proxying.Client.
func (r *response) Room() (int, error) { return math.MaxInt, nil }

// Write implements proxying.Client.
func (r *response) Write(p []byte) (int, error) {
	n := min(len(p), maxBody-len(r.body))
	r.body = append(r.body, p[:n]...)
	if len(r.body) == maxBody {
		return n, errEnough
	}
	return n, nil
}

// Flush implements proxying.Client.
func (r *response) Flush() error { return nil }

// Trailer implements proxying.Client.
func (r *response) Trailer([]proxying.Field) {}

// Duplex implements proxying.Client.
func (r *response) Duplex() {}

// StopReading implements proxying.Client.
func (r *response) StopReading() {}

// Tunnel implements proxying.Client. It is not called, because the request has no Upgrade.
func (r *response) Tunnel() (proxying.Tunnel, []proxying.Field, error) { return nil, nil, errEnough }
