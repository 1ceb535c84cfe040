package proxying

import (
	"cmp"
	"errors"
	"io"
	"os"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/balance"
	"github.com/weirhq/weir/internal/proxying/internal/pool"
	"github.com/weirhq/weir/internal/proxying/internal/response"
)

// A transfer is the attempts at an exchange, each on one connection.
type transfer struct {
	x     *Exchange
	up    *Upstream
	trust Trust
	hook  func(*Exchange, Event) // nil for none

	repeatable bool                         // the request may be sent again
	tries      int                          // how often it was sent
	refusals   int                          // how often of these it was not processed
	sentTo     [MaxAttempts]*balance.Server // of the last attempts, in turn
	why        RetryReason                  // for which it will be sent again; "" if it will not

	// Of the attempt:
	c         *pool.Conn
	at        *Server    // that the exchange is counted at
	set       *serverSet // that order chooses from
	order     balance.Order
	own       *member       // that a sticky cookie names; nil without one
	setCookie string        // keeps the client at the server; "" for none
	expecting bool          // the body is sent after the upstream's 100
	stale     bool          // the connection ended before the first byte of the response, while it was unused
	now       time.Time     // the time of the last step in connecting
	tryEnd    time.Time     // the end of Exchange.TryTimeout; zero for none, or after the head
	headAfter time.Duration // how long the head took after x.Chosen, or the wait for it; 0 before
	waiting   bool          // the first attempt to connect failed for all servers
	step      string
	pending   error // error of a read that is not handled yet
	credit    int   // bytes that the client takes without blocking, as far as is known

	heard time.Time // after the head: the end of the last read of the response
	held  time.Time // the end of the last pause of the client that was as long as clientPause
	owed  int64     // bytes that the server may have sent before that
}

const (
	// clientPause is how long a client may hold up a response before its end is no failure of the server, which may have
	// a limit for that, too.
	clientPause = time.Second
	// maxOwed is more than the kernels of both sides usually hold of a connection. A server that has given up during a
	// pause of the client seems to continue until these bytes are read.
	maxOwed = 16 << 20
)

func (t *transfer) notify(e Event) {
	if t.hook != nil {
		t.hook(t.x, e)
	}
}

// choose sets the server that is connected to next, and reports it to the hook.
func (t *transfer) choose(s *Server, now time.Time) {
	first := t.x.Server == nil
	if t.x.Server != s {
		t.x.Chosen = now
	}
	t.x.Server = s
	if t.x.TryTimeout > 0 && t.x.upload == nil && !t.expecting {
		t.tryEnd = now.Add(t.x.TryTimeout)
	}
	if first {
		t.notify(Sending)
	}
	t.notify(Trying)
}

// passOver reports to the hook a server that could not be connected to and is
// replaced by another. It does not report those of retries.
func (t *transfer) passOver(failed *Error) {
	if t.waiting {
		return
	}
	t.x.Err = failed
	t.notify(PassedOver)
	t.x.Err = nil
}

// fail adds the step and the kind to an error of the upstream.
func (t *transfer) fail(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	if fault := t.x.upload.Fault(); fault != nil {
		return fault
	}
	if t.x.cancelled.Load() {
		return &Error{Kind: ClientGone, Server: t.x.Server.Addr(), Step: t.step, Err: errGone}
	}
	kind := kindOf(err)
	switch {
	case t.x.Began && (kind == Closed || kind == Reset):
		if now := time.Now(); now.Sub(t.heard) >= clientPause || now.Sub(t.held) < clientPause || t.owed > 0 {
			return &Error{Kind: ClientSlow, Step: "sending the response", Err: errHeldUp}
		}
		kind = Truncated
	case kind == Timeout && t.x.overdue(time.Now()):
		return t.fallDue()
	case kind == Timeout && t.tryOver():
		err = errTry
	}
	return &Error{Kind: kind, Server: t.x.Server.Addr(), Step: t.step, Err: err}
}

var (
	errGone = errors.New("the client is gone")
	errTry  = errors.New("no response within the time of a try")

	errHeldUp = errors.New("the server has ended the response, which the client did not read")
)

// fallDue returns the error of an exchange whose deadline has passed.
func (t *transfer) fallDue() *Error {
	if u := t.x.upload; u != nil && u.Waiting() && !t.x.Began {
		return &Error{Kind: ClientSlow, Step: readingBody, Err: ErrOverdue}
	}
	return &Error{Kind: Overdue, Server: t.x.Server.Addr(), Step: t.step, Err: ErrOverdue}
}

// tryOver reports whether the time of the try has passed without a head.
func (t *transfer) tryOver() bool { return !t.tryEnd.IsZero() && !time.Now().Before(t.tryEnd) }

// timeout returns how long the upstream may be silent from now on.
func (t *transfer) timeout(now time.Time) time.Duration {
	timeout := t.x.timeout()
	if !t.tryEnd.IsZero() {
		timeout = min(timeout, max(0, t.tryEnd.Sub(now)))
	}
	return timeout
}

// noteStale records whether the connection ended while it was unused. dead reports that it ended
// before the first byte of the response. The error of a stream may be only its own.
func (t *transfer) noteStale(err error, dead bool) {
	t.stale = dead && t.c.Used && (t.c.Stream == nil || kindOf(err) == Closed)
}

func (t *transfer) maxFields() int { return cmp.Or(t.up.options.MaxFields, DefaultMaxFields) }

// sendBody starts to send the body that waited for the upstream's 100.
func (t *transfer) sendBody() {
	if t.expecting {
		t.expecting = false
		t.x.startUpload(false)
		t.x.upload.Begin(t.c, nil)
	}
}

// await reads more of the response, within the timeout of the upstream. A wait
// that is due to the client, because it has not sent its body yet, does not
// count.
func (t *transfer) await(a *response.Reader) (int, error) {
	if err := t.pending; err != nil {
		t.pending = nil
		return 0, err
	}
	for {
		began := time.Now()
		timeout := t.timeout(began)
		if t.expecting {
			timeout = min(timeout, continueWait)
		}
		t.x.arm(t.c, began, timeout)
		n, err := t.c.Receive(a)
		if t.x.Waited > 0 { // set after the head, so this read is for the body
			t.notePause(began)
			t.heard = time.Now()
			waited := t.heard.Sub(began)
			t.x.Waited += waited
			if t.owed = max(0, t.owed-int64(n)); waited >= clientPause {
				t.owed = 0 // a server that has given up has sent its bytes before
			}
		}
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || t.x.cancelled.Load() || t.x.upload.Fault() != nil {
			return n, err
		}
		switch {
		case t.x.overdue(time.Now()):
			return n, err
		case t.expecting:
			t.sendBody()
		case t.x.upload == nil || !t.x.upload.Waiting():
			return n, err
		}
	}
}

// flow reads more of the response body when the client takes it. Until then the
// bytes stay with the upstream. It flushes to the client before it waits for
// the upstream. It ignores an expired deadline: the client has taken that long
// to read the previous bytes.
func (t *transfer) flow(a *response.Reader) (int, error) {
	if t.credit < response.LeastRoom {
		a.GiveBack()
		room, err := t.x.Client.Room()
		if err != nil {
			return 0, by(ClientGone, "sending the response", err)
		}
		t.credit = min(max(room, response.LeastRoom), response.BufferSize)
	}
	a.AtMost = t.credit
	n, ok, err := t.c.TryReceive(a.Space())
	if ok && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.notePause(time.Now())
		t.owed = max(0, t.owed-int64(n))
		if n == 0 && err == nil {
			err = io.EOF
		}
		return n, err
	}
	a.GiveBack()
	if err := t.x.Client.Flush(); err != nil {
		return 0, by(ClientGone, "sending the response", err)
	}
	return t.await(a)
}

// notePause records that the client has taken the bytes read so far, and that a read of more begins. Since the last
// read, only the client was waited for.
func (t *transfer) notePause(now time.Time) {
	if now.Sub(t.heard) >= clientPause {
		t.held, t.owed = now, maxOwed
	}
	t.heard = now
}

// sentWhole reports whether the upstream got the whole request. If not, the
// state of the connection is unknown.
func (t *transfer) sentWhole() bool {
	if t.x.upload != nil {
		return t.x.upload.Whole()
	}
	return !t.expecting
}

// observe reports the outcome of an attempt that has ended with err.
func (t *transfer) observe(err error) {
	if f := t.at.observer.Load(); f != nil && !t.stale {
		a := Attempt{Waited: t.headAfter}
		if t.headAfter > 0 && t.x.response.Status >= 200 {
			a.Status = t.x.response.Status
		}
		failed, _ := err.(*Error)
		switch {
		case failed == nil:
		case failed.ByUpstream():
			a.Failure = failed.Kind
		case !failed.ByClient():
			return
		}
		(*f)(a)
	}
}
