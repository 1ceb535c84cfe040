package proxying

import (
	"errors"
	"io"
	"net/netip"
	"strconv"
	"time"
)

// A Proxy sends exchanges to an upstream. Its fields must not change once it is
// used. It is safe for concurrent use. The zero Proxy responds with 502.
type Proxy struct {
	Upstream *Upstream

	// Trust lists the proxies in front of this one; see its documentation for
	// the rule.
	Trust Trust

	// Timeout and TryTimeout are those of the exchanges of ServeHTTP.
	Timeout, TryTimeout time.Duration

	// Upgrade lists the upgrade tokens that ServeHTTP passes on, in lower case.
	// nil means only "websocket"; an empty list means none.
	Upgrade []string

	// Fail, if not nil, responds to an exchange that has failed before a response began. x.Err
	// is the reason. The status and the fields are those that Serve would send with a text. Fail
	// responds with [Exchange.Respond] or [Exchange.RespondWith], and returns its error.
	Fail func(x *Exchange, status int, fields []Field) error

	// Hook, if not nil, receives the events of each exchange. The goroutine
	// that called Serve calls it.
	Hook func(*Exchange, Event)

	// Responded, if not nil, is called when the response is complete or the exchange has failed. The client may
	// still be sending its body. Except for BodyRead, the result is in x.
	Responded func(x *Exchange)
}

// Serve sends the request, passes the response to x.Client as it arrives, and
// stores the result in x. If it fails before a response has begun, Serve
// responds itself, with plain text. It returns when the exchange, or the
// upgraded connection, has ended.
//
// If x.Cut is true afterwards, the caller must break the client's connection or
// stream: the response is incomplete and must not look complete.
func (p *Proxy) Serve(x *Exchange) {
	over := false
	defer func() {
		if !over {
			x.abandon()
		}
	}()
	if err := p.carry(x); err != nil {
		x.fail(err, p.Fail)
	}
	if p.Responded != nil {
		p.Responded(x)
	}
	x.finishUpload()
	over = true
	if p.Hook != nil {
		p.Hook(x, Done)
	}
}

// abandon releases the resources of an exchange after a panic in its Hook or
// Client.
func (x *Exchange) abandon() {
	x.transfer.leave()
	if c := x.transfer.c; c != nil {
		x.attach(nil)
		if c.Stream != nil {
			x.transfer.releaseStream(c)
		} else {
			c.Close()
		}
	}
	if x.upload != nil {
		x.endUpload(0)
	}
}

// carry prepares the request as far as possible without an upstream, and sends
// it.
func (p *Proxy) carry(x *Exchange) error {
	if x.Length != 0 && x.Body == nil {
		return &Error{Kind: BadRequest, Step: "writing the request", Err: errRequest}
	}
	if p.Upstream != nil && p.Upstream.options.ProxyProtocol != 0 {
		x.announced = announce(x.driver(), p.Upstream.options.ProxyProtocol, p.Trust.Client(x.Peer, x.Header),
			netip.AddrPortFrom(x.Peer, x.PeerPort))
	}
	x.readFraming()
	base := ""
	if p.Upstream != nil {
		base = p.Upstream.now().base
	}
	if err := x.writeHead(base, p.Trust); err != nil {
		return &Error{Kind: BadRequest, Step: "writing the request", Err: err}
	}
	switch {
	case x.Length == 0:
	case x.framing.expect:
		x.Client.Duplex()
	case x.Length > 0 && x.Length <= ShortBody:
		if err := x.readShortBody(); err != nil {
			x.Client.Duplex() // the response does not wait for the rest of the body
			return err
		}
	default:
		x.Client.Duplex()
		gathers := p.Upstream == nil || !p.Upstream.options.HTTP2
		if x.startUpload(gathers); gathers {
			if err := x.upload.Beginning(); err != nil {
				return err
			}
		}
	}
	return p.send(x)
}

// finishUpload sends the response to a client that is still sending its body,
// and gives it lingerWait to finish. This process needs none of that for its own
// requests: it has no connection to the client that could be reset.
func (x *Exchange) finishUpload() {
	if x.upload == nil {
		return
	}
	linger := lingerWait
	if x.Cut || x.Own || x.HTTP2 || x.Client.Flush() != nil { // HTTP/2 has RST_STREAM instead
		linger = 0
	}
	x.endUpload(linger)
}

// send sends a request, and again if Options.Retry allows it. It uses a new connection then:
// the server may have closed all unused ones.
func (p *Proxy) send(x *Exchange) error {
	t := &x.transfer
	*t = transfer{x: x, up: p.Upstream, trust: p.Trust, hook: p.Hook, expecting: x.framing.expect}
	if t.up == nil {
		t.up = &Upstream{}
	}
	if x.checked != nil {
		return t.check(x.checked)
	}
	reuse := recentConn
	if t.repeatable = x.upload == nil && !t.expecting && t.up.options.Retry.repeats(x.Method); t.repeatable {
		reuse = anyConn
	}
	for {
		err := t.attempt(reuse)
		if err != nil && t.why == "" {
			t.retryFailed(err)
		}
		if t.why == "" {
			return err
		}
		if failed := t.again(err); failed != nil {
			return failed
		}
		reuse = newConnOnly
	}
}

// fail responds in place of an upstream that did not, by respond if that is not nil, or cuts
// off a response that has begun.
func (x *Exchange) fail(err error, respond func(*Exchange, int, []Field) error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: BadResponse, Step: "carrying the exchange", Err: err}
	}
	if e.Err == errGone && x.expired.Load() {
		e = &Error{Kind: Overdue, Server: e.Server, Step: e.Step, Err: ErrOverdue}
	}
	x.Err = e
	if x.Began || x.Upgraded {
		x.Cut = true
		return
	}
	x.Status = e.Status()
	if e.Kind == ClientGone {
		x.Cut = true
		return
	}
	var fields []Field
	if x.Status == 503 {
		fields = retrySoon
	}
	if respond == nil {
		x.Cut = x.Respond(x.Status, "", fields...) != nil
	} else {
		x.Cut = respond(x, x.Status, fields) != nil
	}
}

// retrySoon is sent to a client if no connection was available. One may become
// available at any moment.
var retrySoon = []Field{{"Retry-After", "1"}}

// Respond sends a response with a status and a short plain text instead of one
// from an upstream. An empty text means the standard text of the status. fields
// are added. A response with status 204 has no text.
func (x *Exchange) Respond(status int, text string, fields ...Field) error {
	if status == 204 {
		return x.RespondWith(status, fields, "")
	}
	if text == "" {
		text = statusText(status)
	}
	x.collectOwnFields(fields)
	for _, f := range plainText {
		if !x.Edits(f.Name) {
			x.fields = append(x.fields, f)
		}
	}
	return x.sendOwn(status, text+"\n")
}

var plainText = []Field{
	{"Content-Type", "text/plain; charset=utf-8"},
	{"X-Content-Type-Options", "nosniff"},
}

// RespondWith sends a response with a status, fields and a body instead of one from
// an upstream. It adds Content-Length, unless the status allows no body; body must
// be empty then.
func (x *Exchange) RespondWith(status int, fields []Field, body string) error {
	x.collectOwnFields(fields)
	return x.sendOwn(status, body)
}

// sendOwn sends a response with x.fields.
func (x *Exchange) sendOwn(status int, body string) error {
	x.Status, x.Began = status, true
	if status == 204 || status == 304 {
		return x.Client.Head(status, x.fields, 0)
	}
	x.fields = append(x.fields, Field{"Content-Length", strconv.Itoa(len(body))})
	if err := x.Client.Head(status, x.fields, int64(len(body))); err != nil || x.Method == "HEAD" {
		return err
	}
	n, err := io.WriteString(x.Client, body)
	x.BodySent += int64(n)
	return err
}
