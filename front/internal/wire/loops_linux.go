package wire

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/transport"
)

// loops is the engine of event loops: one for each processor. A connection stays on its
// loop as long as its requests fit there.
type loops struct {
	server  *shared
	loops   []*clientLoop
	running sync.WaitGroup
	release func() // gives back the processors
}

// A clientLoop is a loop and the number of its connections.
type clientLoop struct {
	*transport.Loop
	server *shared
	conns  atomic.Int64
	thread atomic.Int64 // its id; 0 before the loop runs
}

// newListener returns a listener whose connections both engines can serve.
func newListener(l *net.TCPListener) (transport.Listener, error) {
	return transport.NewRawListener(l)
}

// newLoops starts the loops.
func newLoops(s *shared) (engine, error) {
	e := &loops{server: s}
	n := machine.Processors()
	e.release = machine.LeaseProcessors(n)
	for i := range n {
		l, err := transport.NewLoop(i+1, s.panicked)
		if err != nil {
			e.close()
			return nil, err
		}
		on := &clientLoop{Loop: l, server: s}
		e.loops = append(e.loops, on)
		l.Post(func() { on.thread.Store(int64(syscall.Gettid())) })
		e.running.Go(l.Run)
	}
	return e, nil
}

// start implements engine. It chooses the loop with the fewest connections.
func (e *loops) start(c *clientConn, a transport.Accepted) {
	l := slices.MinFunc(e.loops, func(a, b *clientLoop) int { return int(a.conns.Load() - b.conns.Load()) })
	l.conns.Add(1)
	l.Post(func() { l.take(c, a) }) // the loops end after the listeners
}

// close implements engine.
func (e *loops) close() {
	for _, l := range e.loops {
		l.Close()
	}
	e.running.Wait()
	e.release()
}

// cpu implements engine.
func (e *loops) cpu() (used []time.Duration) {
	for _, l := range e.loops {
		if id := l.thread.Load(); id != 0 {
			used = append(used, machine.CPUOfThread(int(id)))
		}
	}
	return used
}

// take moves a connection to the loop.
func (l *clientLoop) take(c *clientConn, a transport.Accepted) {
	conn, err := l.Adopt(a)
	if err != nil {
		l.conns.Add(-1)
		c.finish()
		return
	}
	c.move(conn)
	on := &loopClient{headReader: newHeadReader(c), conn: conn, loop: l}
	on.idle()
}

// A loopClient serves a connection on a loop. While no request is in progress, the loop
// calls Ready and Expired. A task, Run, serves requests.
type loopClient struct {
	headReader
	conn     *transport.LoopConn // the same as client.Conn, or the carrier of tls
	tls      *transport.TLSConn  // the same as client.Conn; nil without TLS, and before the handshake
	loop     *clientLoop
	begins   bool         // the next task does the handshake of TLS
	failure  *http1.Error // why the next task refuses the request; nil if it serves it
	requests int64        // distinguishes the request in progress from others
}

// idle waits for more bytes of a head, outside of a task.
func (on *loopClient) idle() {
	if !on.arm(on.loop.Now()) {
		on.finish()
		return
	}
	if on.tls != nil {
		on.tls.Idle(on)
	} else {
		on.conn.Idle(on)
	}
}

// tryRead reads what has arrived.
func (on *loopClient) tryRead() (n int, ok bool) {
	p := on.client.Space()
	if on.tls != nil {
		n, ok, _ = on.tls.TryRead(p)
	} else {
		n, ok, _ = on.conn.TryRead(p)
	}
	return n, ok
}

func (on *loopClient) finish() {
	on.client.finish()
	on.loop.conns.Add(-1)
}

// Ready implements transport.Handler. It reads what has arrived.
func (on *loopClient) Ready(*transport.LoopConn) {
	c := on.client
	n, ok := on.tryRead()
	switch {
	case n > 0:
		c.in.w += n
		on.proceed(c.next())
	case ok:
		on.finish()
	default:
		c.GiveBack()
		on.idle()
	}
}

// Expired implements transport.Handler.
func (on *loopClient) Expired(*transport.LoopConn) {
	switch on.expired() {
	case waitOn:
		on.idle()
	case refuseSlow:
		on.failure = slowHead
		on.loop.Go(on)
	default:
		on.finish()
	}
}

// proceed does the next step of a connection, outside of a task or at the end of one.
func (on *loopClient) proceed(s step, err *http1.Error) {
	switch {
	case s == incomplete:
		on.idle()
	case s == refusedHeader:
		on.finish()
	case s == refusal:
		on.failure = err
		on.loop.Go(on)
	case s == clientHello:
		on.begins = true
		on.loop.Go(on)
	case s == completeHead && on.fits():
		on.loop.Go(on)
	case s == http2Preface:
		on.client.beginHTTP2(on.loop.Loop, func(f func()) { on.loop.Post(f) }, on.finish).Attend()
	default:
		on.leaveLoop(s)
	}
}

// leaveLoop moves the connection to a goroutine, with the bytes that have arrived.
func (on *loopClient) leaveLoop(s step) {
	c := on.client
	detached, err := on.conn.Detach()
	if err != nil {
		on.finish()
		return
	}
	if on.tls == nil {
		c.move(detached)
	} else {
		on.tls.Move(detached)
		c.move(on.tls)
	}
	on.loop.conns.Add(-1)
	on.loop.server.serveAsync(c, s, nil)
}

// fits reports whether the request whose head is complete can be served on the loop. All
// its waiting must happen in package transport.
func (on *loopClient) fits() bool {
	h := &on.client.in.parser.Head
	return !h.Continue && !h.Upgrade
}

// Run implements transport.Task. It serves the request whose head is complete, and the
// requests that have arrived behind it.
func (on *loopClient) Run() {
	c := on.client
	if on.begins {
		on.handshake()
		return
	}
	for {
		if e := on.failure; e != nil {
			c.refuse(e.Status, e.Reason)
			on.finish()
			return
		}
		on.due = time.Time{}
		on.requests++
		on.conn.Watch(on)
		keep := c.serveRequest(on.loop.Loop)
		on.conn.Watch(nil)
		if !keep {
			on.finish()
			return
		}
		s, err := c.next()
		if s != completeHead || !on.fits() {
			on.proceed(s, err)
			return
		}
	}
}

// handshake does the handshake of TLS, in a task.
func (on *loopClient) handshake() {
	on.begins = false
	if on.tls = on.client.handshake(on.loop.Loop, on.due); on.tls == nil {
		on.finish()
		return
	}
	on.headReader = newHeadReader(on.client)
	on.idle()
}

// HungUp implements transport.Watcher.
func (on *loopClient) HungUp(reset bool) {
	if reset {
		on.client.leave()
		return
	}
	on.awaitWrite(on.requests, on.client.writes.Load())
}

// awaitWrite cancels a request if no part of its response is sent for halfCloseGrace. writes
// is the present count of writes.
func (on *loopClient) awaitWrite(request int64, writes uint64) {
	time.AfterFunc(halfCloseGrace, func() {
		on.loop.Post(func() {
			switch {
			case on.requests != request:
			case on.client.checkStalled(&writes):
				on.client.leave()
			default:
				on.awaitWrite(request, writes)
			}
		})
	})
}
