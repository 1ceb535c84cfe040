package proxy

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// downFor is how long a server that could not be connected to is passed over
// while there are others.
const downFor = time.Second

// An Upstream is a service that answers requests: one server, or several that
// are alike and take turns. It is safe for use by several goroutines. Its
// zero value has no server and answers every request with 502.
type Upstream struct {
	// ConnectRetry is how long an exchange tries again to connect when no server
	// can be connected to, with a growing pause between the attempts. Nothing was
	// sent yet, so this is safe with any method. 0 fails at once. It is set before
	// the first request.
	ConnectRetry time.Duration

	// MaxFields is how many fields the head of an answer may have, and as many
	// its trailers. An answer with more is malformed. 0 means DefaultMaxFields. It
	// is set before the first request.
	MaxFields int

	name    string
	servers []*Server
	turn    atomic.Uint64
	waiting atomic.Int64 // exchanges that wait for a connection
}

// NewUpstream returns an upstream of the servers at the given URLs, each
// http://host:port. Nothing is dialled before the first request.
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

// Name returns the name that NewUpstream was given.
func (u *Upstream) Name() string { return u.name }

// Servers returns the servers in the order of NewUpstream. The caller must not
// change the slice.
func (u *Upstream) Servers() []*Server { return u.servers }

// Close closes the connections that are not in use; those in use are closed
// after their exchange.
func (u *Upstream) Close() {
	for _, s := range u.servers {
		s.close()
	}
}

// reusePolicy says which connections an exchange may have.
type reusePolicy uint8

const (
	anyConn    reusePolicy = iota // it can be sent again should the connection turn out to be dead
	recentConn                    // it cannot: one that was in use a moment ago, or a new one
	newConnOnly
)

// connect returns a connection for a transfer. When no server can be connected
// to, it waits and tries again.
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

// connectNow tries each server once, for up to timeout each. A server that
// cannot be connected to is passed over for the next one: nothing was sent yet.
// It returns neither a connection nor an error if the exchange is one that waits
// and others have just tried.
func (u *Upstream) connectNow(t *transfer, reuse reusePolicy, timeout time.Duration) (*conn, *Error) {
	var failed *Error
	first := u.turn.Add(1) - 1
	now := time.Now()
	for _, down := range []bool{false, true} {
		for i := range uint64(len(u.servers)) {
			s := u.servers[(first+i)%uint64(len(u.servers))]
			if s.down(now) != down || t.waiting && s.failedAfter(now.Add(-probePause)) {
				continue
			}
			if failed != nil {
				t.passOver(failed)
			}
			t.choose(s)
			c, err := s.connect(t.x, now, reuse, timeout)
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
