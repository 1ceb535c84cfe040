package proxying

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying/internal/response"
	"github.com/weirhq/weir/internal/transport"
)

// tunnelLinger limits the time for which one direction of a tunnel continues
// after the other has ended.
const tunnelLinger = 30 * time.Second

// leftPause is the longest pause of the upstream of a WebSocket after the client has closed its side. That client has
// left: WebSocket has no half-close. As with other requests, it could still read for a second.
const leftPause = time.Second

// checkUpgrade rejects a 101 that was not requested, or that switches to
// another protocol than the requested one.
func (t *transfer) checkUpgrade() error {
	x := t.x
	want := x.framing.upgrade
	if want == "" {
		return response.Malformed("status 101 to a request without Upgrade")
	}
	for i := range x.response.Fields {
		if f := &x.response.Fields[i]; f.Name == "Upgrade" && httpsyntax.EqualFold(f.Value, want) {
			return nil
		}
	}
	return response.Malformed("status 101 without Upgrade: %s", want)
}

// tunnel connects the client's connection with the upstream's. No byte from the
// client is forwarded before this point.
func (t *transfer) tunnel() error {
	x := t.x
	t.step = "switching protocols"
	client, outside, err := x.Client.Tunnel()
	if err != nil {
		return &Error{Kind: NoHijack, Step: t.step, Err: err}
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
	a := &x.response
	arrived := a.TakeAll()
	first := append(x.appendSwitching(x.head[:0], outside), arrived...)
	if _, err := client.Write(first); err != nil {
		return &Error{Kind: ClientGone, Step: t.step, Err: err}
	}
	x.BodySent = int64(len(arrived))
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
	var left atomic.Bool
	go func() {
		from := &endReader{Reader: client}
		n, _ := io.Copy(onlyWriter{t.c}, from)
		t.c.CloseWrite()
		switch {
		case from.end != nil && from.end != io.EOF: // the client has reset the connection
			t.c.Interrupt()
			client.SetDeadline(transport.Past)
		case from.end != nil && httpsyntax.EqualFold(t.x.framing.upgrade, "websocket"):
			left.Store(true)
			t.limitLinger(client, leftPause)
		default:
			t.limitLinger(client, tunnelLinger)
		}
		sent <- n
	}()
	n, _ := io.Copy(onlyWriter{client}, tunnelReader{t, &left})
	t.x.BodySent += n
	client.CloseWrite()
	t.limitLinger(client, tunnelLinger)
	t.x.BodyRead = <-sent
}

// limitLinger gives the other direction of a tunnel time to end: tunnelLinger to the client, and wait to the upstream.
func (t *transfer) limitLinger(client Tunnel, wait time.Duration) {
	now := time.Now()
	client.SetDeadline(now.Add(tunnelLinger))
	t.c.SetDeadline(now.Add(wait))
	t.cancelAgain()
}

// cancelAgain repeats a Cancel that came before a deadline was set, which has undone it.
func (t *transfer) cancelAgain() {
	if t.x.cancelled.Load() {
		t.x.Cancel()
	}
}

// tunnelReader reads from the upstream of a tunnel. After the client of a WebSocket has closed its side, no read waits
// longer than leftPause.
type tunnelReader struct {
	*transfer
	left *atomic.Bool
}

func (r tunnelReader) Read(p []byte) (int, error) {
	if r.left.Load() {
		r.c.SetReadDeadline(time.Now().Add(leftPause))
		r.cancelAgain()
	}
	return r.c.Read(p)
}

// endReader keeps the error with which the reads ended.
type endReader struct {
	io.Reader
	end error
}

func (r *endReader) Read(p []byte) (n int, err error) {
	n, err = r.Reader.Read(p)
	r.end = err
	return n, err
}

// onlyWriter makes io.Copy use its own buffer. The byte count is then correct even if the connection is interrupted.
type onlyWriter struct{ io.Writer }

var _ Tunnel = transport.Conn(nil)
