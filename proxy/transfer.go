package proxy

import (
	"cmp"
	"errors"
	"io"
	"os"
	"time"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/proxy/internal/balance"
)

// maxInformational is the maximum number of 1xx responses before the final one.
// An upstream that sends more is faulty.
const maxInformational = 5

// A transfer is the attempts at an exchange, each on one connection.
type transfer struct {
	proxy *Proxy
	x     *Exchange
	up    *Upstream

	repeatable bool                         // the request may be sent again
	tries      int                          // how often it was sent
	sentTo     [MaxAttempts]*balance.Server // that it was sent to
	why        RetryReason                  // for which it will be sent again; "" if it will not

	// Of the attempt:
	c         *conn
	at        *Server    // that the exchange is counted at
	set       *serverSet // that order chooses from
	order     balance.Order
	own       *member       // that a sticky cookie names; nil without one
	setCookie string        // keeps the client at the server; "" for none
	expecting bool          // the body is sent after the upstream's 100
	dead      bool          // the connection ended before the first byte of the response
	stale     bool          // dead, and used before: it ended while it was unused
	chosen    time.Time     // when x.Server was chosen
	now       time.Time     // the time of the last step in connecting
	tryEnd    time.Time     // the end of Exchange.TryTimeout; zero for none, or after the head
	headAfter time.Duration // how long the head took after chosen, or the wait for it; 0 before
	waiting   bool          // the first attempt to connect failed for all servers
	step      string
	pending   error // error of a read that is not handled yet
	credit    int   // bytes that the client takes without blocking, as far as is known

	heard time.Time // after the head: the end of the last wait for the server
	held  time.Time // the end of the last pause of the client that was as long as clientPause
}

// clientPause is how long a client may hold up a response before its end is no failure of the server, which may have a
// limit for that, too.
const clientPause = time.Second

func (t *transfer) attempt(reuse reusePolicy) error {
	t.dead, t.stale, t.pending, t.why, t.tryEnd, t.headAfter = false, false, nil, "", time.Time{}, 0
	c, err := t.up.connect(t, reuse)
	if err != nil {
		return err
	}
	if t.tries == 0 {
		t.up.budget.Request(t.now)
	}
	t.sentTo[t.tries] = &t.x.Server.state
	t.tries++
	t.c = c
	t.x.attach(c)
	err = t.run()
	t.release(err)
	t.at.noteFailure(err)
	t.observe(err)
	t.leave()
	return err
}

// choose sets the server that is connected to next. It reports the first one to
// the hook.
func (t *transfer) choose(s *Server, now time.Time) {
	first := t.x.Server == nil
	if t.x.Server != s {
		t.chosen = now
	}
	t.x.Server = s
	if t.x.TryTimeout > 0 && t.x.upload == nil && !t.expecting {
		t.tryEnd = now.Add(t.x.TryTimeout)
	}
	if first {
		t.proxy.notify(t.x, Sending)
	}
}

// passOver reports to the hook a server that could not be connected to and is
// replaced by another. It does not report those of retries.
func (t *transfer) passOver(failed *Error) {
	if t.waiting {
		return
	}
	t.x.Err = failed
	t.proxy.notify(t.x, PassedOver)
	t.x.Err = nil
}

// fail adds the step and the kind to an error of the upstream.
func (t *transfer) fail(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	if fault := t.x.upload.fault(); fault != nil {
		return fault
	}
	if t.x.cancelled.Load() {
		return &Error{Kind: ClientGone, Server: t.x.Server.addr, Step: t.step, Err: errGone}
	}
	kind := kindOf(err)
	switch {
	case t.x.Began && (kind == Closed || kind == Reset):
		if now := time.Now(); now.Sub(t.heard) >= clientPause || now.Sub(t.held) < clientPause {
			return &Error{Kind: ClientSlow, Step: "sending the answer", Err: errHeldUp}
		}
		kind = Truncated
	case kind == Timeout && t.x.overdue(time.Now()):
		return t.fallDue()
	case kind == Timeout && t.tryOver():
		err = errTry
	}
	return &Error{Kind: kind, Server: t.x.Server.addr, Step: t.step, Err: err}
}

var (
	errGone = errors.New("the client is gone")
	errTry  = errors.New("no answer within the time of a try")

	errHeldUp = errors.New("the server has ended the answer, which the client did not read")
)

// fallDue returns the error of an exchange whose deadline has passed.
func (t *transfer) fallDue() *Error {
	if u := t.x.upload; u != nil && u.waiting.Load() && !t.x.Began {
		return &Error{Kind: ClientSlow, Step: readingBody, Err: ErrOverdue}
	}
	return &Error{Kind: Overdue, Server: t.x.Server.addr, Step: t.step, Err: ErrOverdue}
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

// run sends the request and passes on the response.
func (t *transfer) run() error {
	x := t.x
	x.answer.reset()
	t.step = "sending the request"
	x.arm(t.c, t.now, t.timeout(t.now))
	if err := t.sendHead(); err != nil {
		t.noteDead(err, kindOf(err) != Timeout)
		return t.fail(err)
	}
	err := t.readFinalHead()
	if err == nil || kindOf(err) == Timeout {
		t.heard, t.held = time.Now(), time.Time{}
		x.Waited = t.heard.Sub(t.chosen)
		t.headAfter = x.Waited
	}
	if err != nil {
		t.noteDead(err, !x.answer.heard() && kindOf(err) != Timeout)
		return t.fail(err)
	}
	t.tryEnd = time.Time{}
	if x.answer.status == 101 {
		return t.tunnel()
	}
	if t.retryStatus(); t.why != "" {
		return errAgain
	}
	if err := x.answer.checkArrived(); err != nil {
		return t.fail(err) // nothing was sent to the client yet, so it gets 502
	}
	return t.forward()
}

// noteDead records whether the connection was dead. The error of a stream may be only its own.
func (t *transfer) noteDead(err error, dead bool) {
	t.dead, t.stale = dead, dead && t.c.used && (t.c.stream == nil || kindOf(err) == Closed)
}

// sendHead sends x.head, and starts to send a longer body. If the response is the
// next thing to happen, it also waits for its first bytes.
func (t *transfer) sendHead() error {
	if t.c.stream != nil {
		return t.sendOnStream()
	}
	if u := t.x.upload; u != nil {
		return u.sendTo(t.c, t.x.head)
	}
	head, a := t.x.head, &t.x.answer
	if !t.expecting {
		written, n, writeErr, readErr := t.c.WriteReadInto(head, a)
		a.w += n
		t.pending = readErr
		if head = head[written:]; writeErr != nil || len(head) == 0 {
			return writeErr
		}
	}
	_, err := t.c.Write(head)
	return err
}

// readFinalHead reads heads up to the first that is not informational.
func (t *transfer) readFinalHead() error {
	x := t.x
	t.step = "waiting for the answer"
	for n := 0; ; n++ {
		if err := t.readHead(); err != nil {
			return err
		}
		switch {
		case x.answer.status >= 200:
			return nil
		case x.answer.status == 101:
			return t.checkUpgrade()
		case n == maxInformational:
			return malformed("more than %d informational answers", maxInformational)
		}
		if err := t.informational(); err != nil {
			return err
		}
	}
}

// readHead reads the next head.
func (t *transfer) readHead() error {
	if t.c.stream != nil {
		return t.readStreamHead(t.maxFields())
	}
	return t.x.answer.readHead(t.await, t.x.Method, t.maxFields())
}

func (t *transfer) maxFields() int { return cmp.Or(t.up.MaxFields, DefaultMaxFields) }

// informational passes on a 1xx response to a client that supports it. A client
// that expects 100 gets it when its body is read, so a 100 of the upstream is
// not passed on.
func (t *transfer) informational() error {
	x := t.x
	if x.answer.status == 100 {
		t.sendBody()
		return nil
	}
	if x.HTTP10 {
		return nil
	}
	x.collectFields()
	if err := x.Client.Informational(x.answer.status, x.fields); err != nil {
		return by(ClientGone, "passing on an informational answer", err)
	}
	return nil
}

// sendBody starts to send the body that waited for the upstream's 100.
func (t *transfer) sendBody() {
	if t.expecting {
		t.expecting = false
		startUpload(t.x, false).begin(t.c, nil)
	}
}

// await reads more of the response, within the timeout of the upstream. A wait
// that is due to the client, because it has not sent its body yet, does not
// count.
func (t *transfer) await(a *answer) (int, error) {
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
		n, err := t.c.receive(a)
		if t.x.Waited > 0 { // set after the head, so this read is for the body
			if began.Sub(t.heard) >= clientPause {
				t.held = began
			}
			t.heard = time.Now()
			t.x.Waited += t.heard.Sub(began)
		}
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || t.x.cancelled.Load() || t.x.upload.fault() != nil {
			return n, err
		}
		switch {
		case t.x.overdue(time.Now()):
			return n, err
		case t.expecting:
			t.sendBody()
		case t.x.upload == nil || !t.x.upload.waiting.Load():
			return n, err
		}
	}
}

// flow reads more of the response body when the client takes it. Until then the
// bytes stay with the upstream. It flushes to the client before it waits for
// the upstream. It ignores an expired deadline: the client has taken that long
// to read the previous bytes.
func (t *transfer) flow(a *answer) (int, error) {
	if t.credit < leastRoom {
		a.GiveBack()
		room, err := t.x.Client.Room()
		if err != nil {
			return 0, by(ClientGone, "sending the answer", err)
		}
		t.credit = min(max(room, leastRoom), answerBuffer)
	}
	a.atMost = t.credit
	n, ok, err := t.c.tryReceive(a.Space())
	if ok && !errors.Is(err, os.ErrDeadlineExceeded) {
		if n == 0 && err == nil {
			err = io.EOF
		}
		return n, err
	}
	a.GiveBack()
	if err := t.x.Client.Flush(); err != nil {
		return 0, by(ClientGone, "sending the answer", err)
	}
	return t.await(a)
}

// forward passes the final response to the client.
func (t *transfer) forward() error {
	x := t.x
	a := &x.answer
	t.step = "reading the answer"
	x.Status, x.Began = a.status, true
	x.collectFields()
	length := int64(-1)
	switch {
	case a.framing == http1.BodyLength:
		length = a.left
	case a.streamed && a.framing != http1.BodyNone:
		length = t.c.response.Length
	case a.streamed && x.mayHaveBody():
		length = 0 // the stream has ended with the head, as for an error of gRPC
	}
	if err := x.Client.Head(a.status, x.fields, length); err != nil {
		return by(ClientGone, "sending the answer", err)
	}
	t.credit = answerBuffer // safe to write without asking the client
	for {
		p, err := a.next(t.flow)
		if err == io.EOF {
			break
		}
		if err != nil {
			return t.fail(err)
		}
		if !x.Deadline.IsZero() && x.overdue(time.Now()) {
			return t.fallDue()
		}
		n, err := x.Client.Write(p)
		x.BodySent += int64(n)
		t.credit -= n
		if err != nil {
			return by(ClientGone, "sending the answer", err)
		}
	}
	return t.forwardTrailer()
}

// forwardTrailer passes the trailers to the client. It flushes first: net/http
// sends a short response that was not flushed with a Content-Length, after
// which trailers that were not announced cannot be sent.
func (t *transfer) forwardTrailer() error {
	x := t.x
	if t.c.stream != nil {
		if err := t.readStreamTrailer(t.maxFields()); err != nil {
			return t.fail(err)
		}
	}
	if len(x.answer.trailer) == 0 {
		return nil
	}
	if err := x.Client.Flush(); err != nil {
		return by(ClientGone, "sending the answer", err)
	}
	x.Client.Trailer(x.passTrailer())
	return nil
}

// release keeps the connection for another exchange if its state is certain,
// and closes it otherwise.
func (t *transfer) release(err error) {
	x, c := t.x, t.c
	t.c = nil
	x.attach(nil)
	if c.stream != nil {
		t.releaseStream(c)
		return
	}
	a := &x.answer
	surplus := err == nil && a.surplus() && !x.Upgraded
	a.GiveBack()
	now := time.Now()
	if surplus {
		x.Server.noteSurplus(now)
	}
	if t.stale {
		x.Server.noteClosed(now, now.Sub(c.idle))
	}
	if err != nil || surplus || a.close || x.Upgraded || x.cancelled.Load() || !t.sentWhole() ||
		x.announced.Driver != nil {
		if x.upload != nil {
			x.upload.responded.Store(true)
		}
		c.Close()
		return
	}
	x.Server.put(c, now, a.framing == http1.BodyNone)
}

// sentWhole reports whether the upstream got the whole request. If not, the
// state of the connection is unknown.
func (t *transfer) sentWhole() bool {
	if t.x.upload != nil {
		return t.x.upload.whole()
	}
	return !t.expecting
}
