package proxying

import (
	"io"
	"time"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/proxying/internal/response"
)

// maxInformational is the maximum number of 1xx responses before the final one.
// An upstream that sends more is faulty.
const maxInformational = 5

func (t *transfer) attempt(reuse reusePolicy) error {
	t.stale, t.waiting, t.pending, t.why, t.tryEnd, t.headAfter = false, false, nil, "", time.Time{}, 0
	c, err := t.up.connect(t, reuse)
	if err != nil {
		return err
	}
	if t.tries == 0 {
		t.up.budget.Request(t.now)
	}
	t.sentTo[t.tries%len(t.sentTo)] = &t.x.Server.state
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

// run sends the request and passes on the response.
func (t *transfer) run() error {
	x := t.x
	x.response.Reset()
	t.step = "sending the request"
	x.arm(t.c, t.now, t.timeout(t.now))
	if err := t.sendHead(); err != nil {
		t.noteStale(err, kindOf(err) != Timeout)
		return t.fail(err)
	}
	err := t.readFinalHead()
	if err == nil || kindOf(err) == Timeout {
		t.heard, t.held, t.owed = time.Now(), time.Time{}, 0
		x.Waited = t.heard.Sub(x.Chosen)
		t.headAfter = x.Waited
	}
	if err != nil {
		t.noteStale(err, !x.response.Heard() && kindOf(err) != Timeout)
		return t.fail(err)
	}
	t.tryEnd = time.Time{}
	if x.response.Status == 101 {
		return t.tunnel()
	}
	if t.retryStatus(); t.why != "" {
		return errAgain
	}
	if err := x.response.CheckArrived(); err != nil {
		return t.fail(err) // nothing was sent to the client yet, so it gets 502
	}
	return t.forward()
}

// sendHead sends x.head, and starts to send a longer body. If the response is the
// next thing to happen, it also waits for its first bytes.
func (t *transfer) sendHead() error {
	if t.c.Stream != nil {
		return t.sendOnStream()
	}
	if u := t.x.upload; u != nil {
		return u.SendTo(t.c, t.x.head)
	}
	head, a := t.x.head, &t.x.response
	if !t.expecting {
		written, n, writeErr, readErr := t.c.WriteReadInto(head, a)
		a.Add(n)
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
	t.step = "waiting for the response"
	for n := 0; ; n++ {
		if err := t.readHead(); err != nil {
			return err
		}
		switch {
		case x.response.Status >= 200:
			return nil
		case x.response.Status == 101:
			return t.checkUpgrade()
		case n == maxInformational:
			return response.Malformed("more than %d informational responses", maxInformational)
		}
		if err := t.informational(); err != nil {
			return err
		}
	}
}

// readHead reads the next head.
func (t *transfer) readHead() error {
	if t.c.Stream != nil {
		return t.readStreamHead(t.maxFields())
	}
	return t.x.response.ReadHead(t.await, t.x.Method, t.maxFields())
}

// informational passes on a 1xx response to a client that supports it. A client
// that expects 100 gets it when its body is read, so a 100 of the upstream is
// not passed on.
func (t *transfer) informational() error {
	x := t.x
	if x.response.Status == 100 {
		t.sendBody()
		return nil
	}
	if x.HTTP10 {
		return nil
	}
	x.collectFields()
	if err := x.Client.Informational(x.response.Status, x.fields); err != nil {
		return by(ClientGone, "passing on an informational response", err)
	}
	return nil
}

// forward passes the final response to the client.
func (t *transfer) forward() error {
	x := t.x
	a := &x.response
	t.step = "reading the response"
	x.Status, x.Began = a.Status, true
	x.collectFields()
	length := int64(-1)
	switch {
	case a.Framing == http1.BodyLength:
		length = a.Left
	case a.Streamed && a.Framing != http1.BodyNone:
		length = t.c.Response.Length
	case a.Streamed && a.MayHaveBody(x.Method):
		length = 0 // the stream has ended with the head, as for an error of gRPC
	}
	if err := x.Client.Head(a.Status, x.fields, length); err != nil {
		return by(ClientGone, "sending the response", err)
	}
	t.credit = response.BufferSize // safe to write without asking the client
	for {
		p, err := a.Next(t.flow)
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
			return by(ClientGone, "sending the response", err)
		}
	}
	return t.forwardTrailer()
}

// forwardTrailer passes the trailers to the client. It flushes first: net/http
// sends a short response that was not flushed with a Content-Length, after
// which trailers that were not announced cannot be sent.
func (t *transfer) forwardTrailer() error {
	x := t.x
	if t.c.Stream != nil {
		if err := x.response.SetTrailer(t.c.Stream.Trailers(), t.maxFields()); err != nil {
			return t.fail(err)
		}
	}
	if len(x.response.Trailer) == 0 {
		return nil
	}
	if err := x.Client.Flush(); err != nil {
		return by(ClientGone, "sending the response", err)
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
	if c.Stream != nil {
		t.releaseStream(c)
		return
	}
	a := &x.response
	surplus := err == nil && a.Surplus() && !x.Upgraded
	a.GiveBack()
	now := time.Now()
	if surplus {
		x.Server.conns.NoteSurplus(now)
	}
	if t.stale {
		x.Server.conns.NoteClosed(c, now)
	}
	if err != nil || surplus || a.Close || x.Upgraded || x.cancelled.Load() || !t.sentWhole() ||
		x.announced.Driver != nil {
		if x.upload != nil {
			x.upload.StopSending()
		}
		c.Close()
		return
	}
	x.Server.conns.Put(c, now, a.Framing == http1.BodyNone)
}
