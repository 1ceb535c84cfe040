package proxying

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/pool"
)

const (
	// maxWaiting is the maximum number of exchanges of an upstream that wait
	// for a connection.
	maxWaiting = 1000
	// Between two attempts to connect, an exchange waits for a random time
	// between half of a pause and all of it. The pause doubles from firstPause
	// to maxPause.
	firstPause = 5 * time.Millisecond
	maxPause   = 100 * time.Millisecond
	// connectTimeout limits an attempt to connect.
	connectTimeout = 5 * time.Second
)

// ErrTooManyWaiting is wrapped by the error of an exchange that could not wait
// for a connection, because maxWaiting others of its upstream already waited.
var ErrTooManyWaiting = errors.New("too many requests wait for a connection")

// errNoServer is the reason of an exchange with an upstream whose servers are not known yet.
var errNoServer = errors.New("the upstream has none")

// errAllDrain is the error of an exchange for which only draining servers are left.
var errAllDrain = errors.New("all servers are draining")

// Waiting returns the number of exchanges that wait for a connection, and its
// limit.
func (u *Upstream) Waiting() (n, max int) { return int(u.waiting.Load()), maxWaiting }

// reusePolicy determines the connections that an exchange may use.
type reusePolicy uint8

const (
	anyConn    reusePolicy = iota // any, because the request can be repeated
	recentConn                    // a new or recently used one, because the request cannot be repeated
	newConnOnly
)

// connect returns a connection for a transfer. If no server accepts one, it
// waits and retries.
func (u *Upstream) connect(t *transfer, reuse reusePolicy) (*pool.Conn, error) {
	c, failed := u.connectNow(t, reuse, t.x.timeout())
	if failed != nil && failed.ByUpstream() && u.options.ConnectRetry > 0 {
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
func (u *Upstream) connectNow(t *transfer, reuse reusePolicy, timeout time.Duration) (*pool.Conn, *Error) {
	var failed *Error
	now := time.Now()
	t.now = now
	t.beginOrder(now)
	for {
		m, err := t.place()
		if err != nil {
			t.leave()
			return nil, err
		}
		if m == nil && len(t.set.members) == 0 {
			return nil, &Error{Kind: Connect, Step: choosing, Err: errNoServer}
		}
		if m == nil {
			if failed == nil && !t.waiting {
				failed = &Error{Kind: Connect, Step: choosing, Err: errAllDrain}
			}
			return nil, failed
		}
		if failed != nil {
			t.passOver(failed)
		}
		t.keep(m)
		t.x.setBase(t.set.base)
		t.choose(m.Server, t.now)
		var c *pool.Conn
		c, err = t.x.connect(m.Server, t.now, reuse, timeout)
		if err != nil || !c.Used {
			t.now = time.Now()
		}
		if err == nil {
			return c, nil
		}
		t.observe(err)
		t.leave()
		m.noteFailure(err)
		t.order.Failed(&m.state)
		if failed = err; !failed.ByUpstream() {
			return nil, failed
		}
	}
}

// beginOrder begins the order of an attempt to connect.
func (t *transfer) beginOrder(now time.Time) {
	x, u := t.x, t.up
	t.set, t.own = u.now(), nil
	t.order.Begin(t.set.choice, u.choice(), now, t.waiting, t.lastServers())
	if u.options.Balance == Hash {
		t.order.SetKey(u.options.HashKey.hash(x.Header, x.Target, t.trust.Client(x.Peer, x.Header)))
	}
	if u.options.Sticky != nil {
		FindCookie(x.Header, func(name, value string) bool {
			if name != u.options.Sticky.Cookie {
				return false
			}
			i := slices.IndexFunc(t.set.members, func(m member) bool { return m.cookie.Is(value) })
			if i >= 0 {
				t.own = &t.set.members[i]
				t.order.SetOwn(i)
			}
			return i >= 0
		})
	}
}

// keep has the response keep the client at a server, unless its cookie names the server already.
func (t *transfer) keep(m *member) {
	t.setCookie = ""
	if t.up.options.Sticky != nil && m != t.own {
		x := t.x
		t.setCookie = m.cookie.SetCookie(t.trust.Scheme(x.Peer, x.Header, x.Scheme))
	}
}

// connect takes an unused connection to s, if the policy allows it, or makes one
// within the timeout.
func (x *Exchange) connect(s *Server, now time.Time, reuse reusePolicy, timeout time.Duration) (*pool.Conn, *Error) {
	if x.announced.Driver == nil && reuse != newConnOnly {
		if c := s.conns.Take(x.driver(), now, reuse == recentConn); c != nil {
			return c, nil
		}
	}
	c, err := x.dial(s, reuse, timeout)
	if err == nil {
		s.state.NoteConnected()
		return c, nil
	}
	failed := x.dialError(s, err)
	if failed.ByUpstream() {
		s.state.NoteNotConnected(now, time.Now())
	}
	return nil, failed
}

// dial makes a connection to s within the timeout. With HTTP/2 it opens a stream, on a connection
// that reuse allows.
func (x *Exchange) dial(s *Server, reuse reusePolicy, timeout time.Duration) (*pool.Conn, error) {
	driver := x.driver()
	if x.announced.Driver != nil {
		driver = &x.announced
	}
	if x.TryTimeout > 0 {
		timeout = min(timeout, x.TryTimeout)
	}
	r := pool.Request{Head: x.streamHead, Ends: x.Length == 0, HeadOnly: x.Method == "HEAD", Recent: reuse != anyConn}
	if c := s.conns.OpenNow(driver, &r); c != nil {
		return c, nil
	}
	ctx, end := x.beginDial(min(timeout, connectTimeout))
	defer end()
	return s.conns.Dial(ctx, driver, &r)
}

// dialError returns the failure of an exchange that could not connect to s.
func (x *Exchange) dialError(s *Server, err error) *Error {
	if x.cancelled.Load() {
		return &Error{Kind: ClientGone, Server: s.Addr(), Step: connecting, Err: errGone}
	}
	failed := &Error{Kind: dialKind(err), Server: s.Addr(), Step: connecting, Err: err}
	if failed.Kind == ConnectTimeout && x.overdue(time.Now()) {
		failed.Kind, failed.Err = Overdue, ErrOverdue
	}
	return failed
}

// connectLater retries until ConnectRetry or the timeout of the exchange ends.
// failed is the error of the first attempt.
func (u *Upstream) connectLater(t *transfer, reuse reusePolicy, failed *Error) (*pool.Conn, *Error) {
	if u.waiting.Add(1) > maxWaiting {
		u.waiting.Add(-1)
		failed.Err = fmt.Errorf("%w; %w", failed.Err, ErrTooManyWaiting)
		return nil, failed
	}
	defer u.waiting.Add(-1)
	t.beginWaiting(failed)
	timeout := t.x.timeout()
	began := time.Now()
	end := began.Add(min(u.options.ConnectRetry, timeout))
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		left := time.Until(end)
		if left <= 0 {
			return nil, failed
		}
		if err := t.x.pause(min(pause/2+rand.N(pause/2), left)); err != nil {
			return nil, err
		}
		remaining := timeout - time.Since(began)
		if remaining <= 0 {
			return nil, failed
		}
		c, err := u.connectNow(t, reuse, remaining)
		switch {
		case c != nil:
			return c, nil
		case err == nil: // another exchange has just tried
		case !err.ByUpstream():
			return nil, err
		case err.Kind == ConnectTimeout && time.Until(end) <= 0:
			return nil, failed // the attempt had less than its usual time, so its error is not significant
		default:
			failed = err
		}
	}
}

// beginWaiting reports to the hook that no server accepted a connection.
func (t *transfer) beginWaiting(failed *Error) {
	t.waiting = true
	t.x.Err = failed
	t.notify(Waiting)
	t.x.Err = nil
}

// pause waits for d. It returns an error if the client is gone or its body is
// faulty.
func (x *Exchange) pause(d time.Duration) *Error {
	ctx, end := x.beginDial(d)
	defer end()
	x.driver().Block(func() { <-ctx.Done() })
	if fault := x.upload.Fault(); fault != nil {
		return by(ClientBody, readingBody, fault)
	}
	if x.cancelled.Load() {
		gone := &Error{Kind: ClientGone, Step: "waiting for a connection", Err: errGone}
		if x.Server != nil {
			gone.Server = x.Server.Addr()
		}
		return gone
	}
	return nil
}
