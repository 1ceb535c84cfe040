package transport

import "iter"

// Handshake does the handshake. The deadlines of the connection limit it. Errors are those of
// crypto/tls and of the connection; after an error, the caller closes the connection.
//
// compute calls its argument, a part of the handshake that computes for up to a millisecond
// and does not wait, in a goroutine that is not locked to a thread: on a loop, it is
// [Driver.Block]. Handshake itself waits for the peer.
func (c *TLSConn) Handshake(compute func(part func())) error {
	h := handshake{conn: c}
	for {
		compute(h.resume)
		_, left, err := c.send(true)
		switch {
		case h.ended && h.err != nil:
			return h.err // an alert may not have been sent
		case err == nil && left == 0 && h.ended:
			return nil
		}
		if err == nil {
			err = c.fill()
		}
		if err != nil {
			compute(h.stop)
			return err
		}
	}
}

// A handshake is one in progress. crypto/tls runs in a coroutine, which is switched from
// when it needs more bytes.
type handshake struct {
	conn  *TLSConn
	next  func() (struct{}, bool)
	end   func()
	ended bool
	err   error
}

// resume continues until the handshake needs more bytes or has ended.
func (h *handshake) resume() {
	if h.next == nil {
		h.next, h.end = iter.Pull(h.run)
	}
	_, more := h.next()
	h.ended = !more
}

func (h *handshake) run(yield func(struct{}) bool) {
	h.conn.pause = func() bool { return yield(struct{}{}) }
	h.err = h.conn.tls.Handshake()
	h.conn.pause = nil
}

// stop ends the coroutine.
func (h *handshake) stop() { h.end() }
