package proxy

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http1"
)

// DefaultMaxFields limits the fields of a response if its Upstream sets no
// other limit.
const DefaultMaxFields = http1.DefaultMaxFields

// downFor is the time for which a server is passed over after a failed attempt
// to connect, while there are others.
const downFor = time.Second

// An Upstream is a service that consists of one server, or of several
// equivalent ones that are used in turn. It is safe for concurrent use. The
// zero value has no server and responds to every request with 502.
type Upstream struct {
	// ConnectRetry limits the time in which an exchange retries to connect if
	// no server accepts a connection. The pauses between the attempts grow.
	// Nothing was sent yet, so this is safe with any method. 0 means no retry.
	// It must be set before the first request.
	ConnectRetry time.Duration

	// MaxFields limits the fields in the head of a response, and those in its
	// trailers. A response with more is malformed. 0 means DefaultMaxFields. It
	// must be set before the first request.
	MaxFields int

	name    string
	servers []*Server
	turn    atomic.Uint64
	waiting atomic.Int64 // exchanges that wait for a connection
}

// NewUpstream returns an upstream of the servers at the given URLs, each
// http://host:port. It does not connect to them before the first request.
func NewUpstream(name string, urls ...string) (*Upstream, error) {
	if len(urls) == 0 {
		return nil, fmt.Errorf("upstream %s has no server", name)
	}
	u := &Upstream{name: name}
	for _, raw := range urls {
		s, err := newServer(raw)
		if err != nil {
			return nil, fmt.Errorf("upstream %s: %w", name, err)
		}
		u.servers = append(u.servers, s)
	}
	return u, nil
}

// Name returns the name given to NewUpstream.
func (u *Upstream) Name() string { return u.name }

// Servers returns the servers in the order given to NewUpstream. The caller
// must not change the slice.
func (u *Upstream) Servers() []*Server { return u.servers }

// Close closes the unused connections now, and the others after their
// exchanges.
func (u *Upstream) Close() {
	for _, s := range u.servers {
		s.close()
	}
}

// reusePolicy determines the connections that an exchange may use.
type reusePolicy uint8

const (
	anyConn    reusePolicy = iota // any, because the request can be repeated
	recentConn                    // a new or recently used one, because the request cannot be repeated
	newConnOnly
)

// connect returns a connection for a transfer. If no server accepts one, it
// waits and retries.
func (u *Upstream) connect(t *transfer, reuse reusePolicy) (*conn, error) {
	if len(u.servers) == 0 {
		return nil, &Error{Kind: Connect, Step: "choosing a server", Err: errors.New("the upstream has none")}
	}
	c, failed := u.connectNow(t, reuse, t.x.timeout())
	if failed != nil && failed.ByUpstream() && u.ConnectRetry > 0 {
		c, failed = u.connectLater(t, reuse, failed)
	}
	if failed != nil {
		return nil, failed
	}
	return c, nil
}

// connectNow tries each server once, for up to timeout each. If a server cannot
// be connected to, it tries the next one: nothing was sent yet. It returns
// neither a connection nor an error if the exchange is waiting and others have
// just tried.
func (u *Upstream) connectNow(t *transfer, reuse reusePolicy, timeout time.Duration) (*conn, *Error) {
	var failed *Error
	first := u.turn.Add(1) - 1
	now := time.Now()
	t.now = now
	for _, down := range []bool{false, true} {
		for i := range uint64(len(u.servers)) {
			s := u.servers[(first+i)%uint64(len(u.servers))]
			if s.down(now) != down || t.waiting && s.failedAfter(now.Add(-probePause)) {
				continue
			}
			if failed != nil {
				t.passOver(failed)
			}
			t.choose(s, t.now)
			c, err := s.connect(t.x, t.now, reuse, timeout)
			if err != nil || !c.used {
				t.now = time.Now()
			}
			if err == nil {
				return c, nil
			}
			if failed = err; !failed.ByUpstream() {
				return nil, failed
			}
		}
		if failed != nil {
			break
		}
	}
	return nil, failed
}
