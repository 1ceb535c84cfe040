package proxy

import (
	"errors"
	"io"
	"strconv"
	"time"
)

// DefaultTimeout is how long an upstream may be silent where an Exchange says
// nothing else: before its answer, and between two parts of it.
const DefaultTimeout = 30 * time.Second

// A Proxy carries exchanges to an upstream. Its fields are set before it is
// used and not changed; it is safe for use by several goroutines. The zero
// Proxy answers 502.
type Proxy struct {
	Upstream *Upstream

	// Trust lists the proxies in front of this one. See there for the rule.
	Trust Trust

	// Timeout is how long the upstream may be silent in exchanges that
	// ServeHTTP serves; 0 means DefaultTimeout.
	Timeout time.Duration

	// Upgrade lists the upgrade tokens that ServeHTTP lets pass, in lower
	// case; nil means "websocket" alone, an empty list none.
	Upgrade []string

	// Hook, when set, is told what happens to each exchange. It is called by
	// the goroutine that called Serve.
	Hook func(*Exchange, Event)
}

// An Event is what a Hook is told of.
type Event uint8

const (
	// Sending: a server was chosen, x.Server, and is about to be reached for.
	// It comes at most once, even when a second server is tried.
	Sending Event = iota
	// PassedOver: x.Server could not be connected to, x.Err says why, and
	// another server will be tried.
	PassedOver
	// Waiting: no server could be connected to, x.Err says why, and the exchange
	// tries again for Upstream.ConnectRetry. It comes at most once for each
	// attempt to send the request.
	Waiting
	// Done: the exchange is over, and what became of it stands in it.
	Done
)

func (p *Proxy) tell(x *Exchange, e Event) {
	if p.Hook != nil {
		p.Hook(x, e)
	}
}

// Serve carries the exchange: it sends the request, hands the answer to
// x.Client as it comes, and leaves in x what became of it. When it fails
// before an answer began, Serve answers itself, in plain text. It returns when
// the exchange is over, an upgraded connection's too.
//
// When x.Cut is true afterwards, the caller must break the client's connection
// (or stream): the answer is not whole and must not look so.
func (p *Proxy) Serve(x *Exchange) {
	over := false
	defer func() {
		if !over {
			x.abandon()
		}
	}()
	if err := p.carry(x); err != nil {
		x.fail(err)
	}
	x.finishUpload()
	over = true
	p.tell(x, Done)
}

// abandon lets go of what an exchange holds whose Hook or Client panicked.
func (x *Exchange) abandon() {
	if c := x.transfer.c; c != nil {
		x.attach(nil)
		c.Close()
	}
	if x.upload != nil {
		x.upload.finish(0)
	}
}

// carry prepares the request as far as that goes without an upstream, and
// sends it.
func (p *Proxy) carry(x *Exchange) error {
	if x.Length != 0 && x.Body == nil {
		return &Error{Kind: BadRequest, Step: "writing the request", Err: errRequest}
	}
	x.readFraming()
	if err := x.writeHead(p.Trust); err != nil {
		return &Error{Kind: BadRequest, Step: "writing the request", Err: err}
	}
	switch {
	case x.Length == 0:
	case x.framing.expect:
		x.Client.Duplex()
	case x.Length > 0 && x.Length <= shortBody:
		if err := x.readShortBody(); err != nil {
			x.Client.Duplex() // the answer does not wait for the rest
			return err
		}
	default:
		x.Client.Duplex()
		if err := startUpload(x).beginning(); err != nil {
			return err
		}
	}
	return p.send(x)
}

// finishUpload gives a client that is still sending the answer first, and a
// moment to end.
func (x *Exchange) finishUpload() {
	if x.upload == nil {
		return
	}
	linger := lingerWait
	if x.Cut || x.Client.Flush() != nil {
		linger = 0
	}
	x.upload.finish(linger)
}

// send sends a request, and once more on a new connection when the one that it
// went to turns out to have been dead and sending it twice does no harm. The
// kernel still accepts connections for a process that is ending and resets them
// afterwards, so a request that meets such a connection is sent a third time.
func (p *Proxy) send(x *Exchange) error {
	t := &x.transfer
	*t = transfer{proxy: p, x: x, expecting: x.framing.expect}
	reuse := recentConn
	repeatable := safe(x.Method) && x.upload == nil && !t.expecting
	if repeatable {
		reuse = anyConn
	}
	err := t.attempt(reuse)
	if err != nil && repeatable && t.stale && !x.cancelled.Load() {
		x.Retried = true
		err = t.attempt(newConnOnly)
		if err != nil && t.dead && p.Upstream.ConnectRetry > 0 {
			if left := x.pause(maxPause); left != nil {
				return left
			}
			err = t.attempt(newConnOnly)
		}
	}
	return err
}

// fail answers for an upstream that did not, or breaks off what had begun.
func (x *Exchange) fail(err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: BadAnswer, Step: "carrying the exchange", Err: err}
	}
	x.Err = e
	if x.Began || x.Upgraded {
		x.Cut = true
		return
	}
	x.Status = e.status()
	if e.Kind == ClientGone {
		x.Cut = true
		return
	}
	var fields []Field
	if x.Status == 503 {
		fields = retrySoon
	}
	if x.Respond(x.Status, "", fields...) != nil {
		x.Cut = true
	}
}

// retrySoon goes with the answer to a client for whom there was no connection:
// one may be free again at any moment.
var retrySoon = []Field{{"Retry-After", "1"}}

// Respond answers the exchange with a status and a short plain text, its
// standard one when text is empty, instead of an upstream. fields are added. An
// answer with status 204 has no text.
func (x *Exchange) Respond(status int, text string, fields ...Field) error {
	x.Status, x.Began = status, true
	x.fields = append(append(x.fields[:0], fields...), x.Answer...)
	if status == 204 {
		return x.Client.Head(status, x.fields, 0)
	}
	if text == "" {
		text = statusText(status)
	}
	text += "\n"
	x.fields = append(x.fields,
		Field{"Content-Type", "text/plain; charset=utf-8"},
		Field{"X-Content-Type-Options", "nosniff"},
		Field{"Content-Length", strconv.Itoa(len(text))},
	)
	if err := x.Client.Head(status, x.fields, int64(len(text))); err != nil || x.Method == "HEAD" {
		return err
	}
	n, err := io.WriteString(x.Client, text)
	x.BodySent += int64(n)
	return err
}
