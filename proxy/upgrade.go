package proxy

import (
	"io"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/transport"
)

// tunnelLinger limits the time for which one direction of a tunnel continues
// after the other has ended.
const tunnelLinger = 30 * time.Second

// checkUpgrade rejects a 101 that was not requested, or that switches to
// another protocol than the requested one.
func (t *transfer) checkUpgrade() error {
	x := t.x
	want := x.framing.upgrade
	if want == "" {
		return malformed("status 101 to a request without Upgrade")
	}
	for i := range x.answer.fields {
		if f := &x.answer.fields[i]; f.Name == "Upgrade" && httpsyntax.EqualFold(f.Value, want) {
			return nil
		}
	}
	return malformed("status 101 without Upgrade: %s", want)
}

// tunnel connects the client's connection with the upstream's. No byte from the
// client is forwarded before this point.
func (t *transfer) tunnel() error {
	x := t.x
	t.step = "switching protocols"
	client, outside, err := x.Client.Tunnel()
	if err != nil {
		return &Error{Kind: BadRequest, Step: t.step, Err: err}
	}
	defer client.Close()
	x.Upgraded, x.Status = true, 101
	x.mu.Lock()
	x.tunnel = client
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		x.tunnel = nil
		x.mu.Unlock()
	}()
	t.c.SetDeadline(time.Time{})
	client.SetDeadline(time.Time{})
	if x.cancelled.Load() {
		return &Error{Kind: ClientGone, Step: t.step, Err: errGone}
	}
	a := &x.answer
	first := append(x.appendSwitching(x.head[:0], outside), a.buf[a.r:a.w]...)
	if _, err := client.Write(first); err != nil {
		return &Error{Kind: ClientGone, Step: t.step, Err: err}
	}
	x.BodySent = int64(a.w - a.r)
	a.r = a.w
	a.GiveBack()
	t.join(client)
	return nil
}

// appendSwitching appends the head of the 101 response for the client. outside
// are fields that were set outside of the exchange.
func (x *Exchange) appendSwitching(b []byte, outside []Field) []byte {
	b = append(b, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"...)
	b = appendField(b, "Upgrade", x.framing.upgrade)
	x.collectFields()
	for _, f := range x.fields {
		b = appendField(b, f.Name, f.Value)
	}
	for _, f := range outside {
		if !framesMessage(f.Name) && httpsyntax.IsToken(f.Name) && httpsyntax.IsPlain(f.Value) {
			b = appendField(b, f.Name, f.Value)
		}
	}
	return append(b, "\r\n"...)
}

// join copies in both directions until both sides have ended.
func (t *transfer) join(client Tunnel) {
	sent := make(chan int64)
	go func() {
		n, _ := io.Copy(onlyWriter{t.c}, client)
		t.c.CloseWrite()
		t.limitLinger(client)
		sent <- n
	}()
	n, _ := io.Copy(onlyWriter{client}, onlyReader{t.c})
	t.x.BodySent += n
	client.CloseWrite()
	t.limitLinger(client)
	t.x.BodyRead = <-sent
}

// limitLinger gives the other direction of a tunnel tunnelLinger to end.
func (t *transfer) limitLinger(client Tunnel) {
	linger := time.Now().Add(tunnelLinger)
	client.SetDeadline(linger)
	t.c.SetDeadline(linger)
	if t.x.cancelled.Load() {
		t.x.Cancel() // Cancel came before these deadlines, which have undone it
	}
}

// onlyReader and onlyWriter make io.Copy use its own buffer. The byte counts
// are then correct even if the connection is interrupted.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)

var _ Tunnel = transport.Conn(nil)
