package transport

import (
	"iter"
	"sync"
)

// keptHandshakes is how many unused coroutines a Handshakes keeps.
const keptHandshakes = 64

// Handshakes does handshakes of connections with TLS, in coroutines that it uses again: their
// stacks have grown. The zero value is ready to use. Goroutines may share it.
type Handshakes struct {
	mu     sync.Mutex // guards the fields below
	unused []*handshake
	closed bool
}

// Do does the handshake of c. The deadlines of the connection limit it. Errors come from
// crypto/tls and from the connection; after an error, the caller closes the connection.
//
// compute calls its argument, a part of the handshake that computes for up to a millisecond
// and does not wait, in a goroutine that is not locked to a thread: on a loop, it is
// [Driver.Block]. Do itself waits for the peer.
func (hs *Handshakes) Do(c *TLSConn, compute func(part func())) error {
	h := hs.take()
	h.conn, h.done, h.abandoned = c, false, false
	c.pause = h.pause
	for {
		compute(h.resume)
		_, left, err := c.send(true)
		switch {
		case h.done && h.err != nil:
			err = h.err // an alert may not have been sent
		case err == nil && left == 0 && !h.done:
			err = c.fill()
		}
		if err != nil && !h.done {
			h.abandoned = true
			compute(h.resume)
		}
		if h.done {
			c.pause, h.conn = nil, nil
			if !hs.keep(h) {
				compute(h.end)
			}
			return err
		}
	}
}

// Handshake does the handshake as [Handshakes.Do] does, in a coroutine that ends with it.
func (c *TLSConn) Handshake(compute func(part func())) error {
	hs := Handshakes{closed: true}
	return hs.Do(c, compute)
}

// take returns a coroutine.
func (hs *Handshakes) take() *handshake {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	n := len(hs.unused) - 1
	if n < 0 {
		return new(handshake)
	}
	h := hs.unused[n]
	hs.unused = hs.unused[:n]
	return h
}

// keep keeps a coroutine. If it returns false, the coroutine must be ended.
func (hs *Handshakes) keep(h *handshake) bool {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.closed || len(hs.unused) >= keptHandshakes {
		return false
	}
	hs.unused = append(hs.unused, h)
	return true
}

// Close ends the coroutines that are not in use, and the others after their handshake. It must
// not be called on a loop.
func (hs *Handshakes) Close() {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for _, h := range hs.unused {
		h.end()
	}
	hs.unused, hs.closed = nil, true
}

// A handshake is a coroutine in which crypto/tls does handshakes, one after another. It is
// left when crypto/tls needs more bytes.
type handshake struct {
	next  func() (struct{}, bool)
	end   func()
	yield func(struct{}) bool

	conn      *TLSConn
	done      bool
	err       error
	abandoned bool // crypto/tls gets no more bytes
}

// resume continues until the handshake needs more bytes or is done.
func (h *handshake) resume() {
	if h.next == nil { // made here, because a coroutine belongs to a thread if that is locked
		h.next, h.end = iter.Pull(h.run)
	}
	h.next()
}

func (h *handshake) run(yield func(struct{}) bool) {
	h.yield = yield
	for {
		h.err = h.conn.tls.Handshake()
		h.done = true
		if !yield(struct{}{}) {
			return
		}
	}
}

// pause leaves the coroutine until more bytes have arrived. It returns false if none will.
func (h *handshake) pause() bool { return h.yield(struct{}{}) && !h.abandoned }
