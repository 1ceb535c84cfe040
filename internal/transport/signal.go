package transport

import "sync/atomic"

// A Signal is sent once. One goroutine or coroutine may wait for it, with [Driver.Wait],
// and another one of the same driver sends it.
type Signal struct {
	sent   atomic.Bool
	token  chan struct{} // wakes a goroutine; a surplus token does no harm
	waiter waker         // the coroutine that waits; used only on its loop
}

// A waker is a coroutine.
type waker interface{ wakeNext() }

// NewSignal returns a signal that was not sent.
func NewSignal() *Signal { return &Signal{token: make(chan struct{}, 1)} }

// Send sends the signal. The coroutine that waits for it is the next to run.
func (s *Signal) Send() {
	w := s.waiter // read before sent is set: then s may be reset, and used by another driver
	s.sent.Store(true)
	if w != nil {
		w.wakeNext()
		return
	}
	select {
	case s.token <- struct{}{}:
	default:
	}
}

// Sent reports whether the signal was sent. Any goroutine may call it.
func (s *Signal) Sent() bool { return s.sent.Load() }

// Reset prepares the signal to be sent again. Nothing may wait for it.
func (s *Signal) Reset() { s.sent.Store(false) }
