package transport

import (
	"os"
	"runtime/debug"
)

// A Handler handles an idle connection of a loop. Its methods are called on the loop,
// outside of a task. They must not wait: a read is a TryRead, and a task that is started
// with [Loop.Go] does the rest. After a panic, the connection is aborted.
type Handler interface {
	// Ready is called when TryRead may find something: bytes, the end of the stream or an
	// error, such as net.ErrClosed after Close or at the end of the loop.
	Ready(c *LoopConn)

	// Expired is called when the read deadline has passed. TryRead fails until another
	// deadline is set, even if bytes have arrived.
	Expired(c *LoopConn)
}

// A Watcher gets to know of the end of a connection while nothing reads from it.
type Watcher interface {
	// HungUp is called on the loop when the peer has sent the end of the stream, although
	// bytes may be left to read, or, with reset, when the connection has failed. It is
	// called at most once for each, and must not wait.
	HungUp(reset bool)
}

// Idle has the loop call a method of h when there is something to do, but not before Idle
// has returned. It calls one method once; to continue, h calls Idle again. No operation
// may be in progress meanwhile. An idle connection needs no coroutine and no buffer.
// Idle(nil) ends the state.
func (c *LoopConn) Idle(h Handler) { c.idle(h, false) }

// idle is Idle. If pending is true, there is something to do already.
func (c *LoopConn) idle(h Handler, pending bool) {
	c.handler, c.pending = h, pending
	if h != nil && (c.mayRead || pending || c.readError() != nil) {
		c.queue()
	}
}

// queue queues the connection for its handler.
func (c *LoopConn) queue() {
	if !c.queued {
		c.queued = true
		c.loop.queue.push(c)
	}
}

// run implements runnable. It calls the handler.
func (c *LoopConn) run() {
	c.queued = false
	h, failed := c.handler, c.readError()
	if h == nil || !c.mayRead && !c.pending && failed == nil {
		return
	}
	c.handler = nil
	defer c.abortAfterPanic()
	if failed == os.ErrDeadlineExceeded {
		h.Expired(c)
	} else {
		h.Ready(c)
	}
}

// Watch has the loop call w when the peer ends the connection, until Watch is called with
// another w or nil, or the connection is closed. If the peer has done so before, Watch
// itself calls w.
func (c *LoopConn) Watch(w Watcher) {
	c.watcher = w
	if w != nil && (c.ended || c.reset) {
		w.HungUp(c.reset)
	}
}

// hungUp calls the watcher.
func (c *LoopConn) hungUp(w Watcher) {
	defer c.abortAfterPanic()
	w.HungUp(c.reset)
}

// abortAfterPanic must be deferred itself.
func (c *LoopConn) abortAfterPanic() {
	if v := recover(); v != nil {
		c.loop.onPanic(v, debug.Stack())
		c.Abort()
	}
}
