package send

import (
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/load/internal/dispatch"
)

// HasLoops reports whether the system has the loops of package transport.
const HasLoops = true

// A loopDriver runs the tasks and connections of a thread on a loop.
type loopDriver struct {
	*transport.Loop
	thread *http1 // set by run
	in     []byte // buffer for reading
	over   bool
}

// readsAtOnce is how often a connection is read before the others are.
const readsAtOnce = 16

func loopDrivers(n int) ([]driver, error) {
	drivers := make([]driver, n)
	for i := range drivers {
		l, err := transport.NewLoop(i+1, func(v any, stack []byte) { panic(fmt.Sprintf("%v\n%s", v, stack)) })
		if err != nil {
			for _, d := range drivers[:i] {
				d.(*loopDriver).Close()
				d.(*loopDriver).Run()
			}
			return nil, err
		}
		drivers[i] = &loopDriver{Loop: l, in: make([]byte, readSize)}
	}
	return drivers, nil
}

// run implements driver.
func (l *loopDriver) run(t *http1) {
	l.thread = t
	l.Loop.Pace(l)
	l.Loop.Run()
}

// Pace implements transport.Pacer.
func (l *loopDriver) Pace() time.Duration {
	if l.over {
		return dispatch.Tick
	}
	rest, more := l.thread.pace()
	if !more {
		l.over = true
		l.Close()
	}
	return rest
}

// finish implements driver.
func (l *loopDriver) finish(task transport.TurnEnder) { l.AtTurnEnd(task) }

// attend implements driver.
func (l *loopDriver) attend(c *conn) {
	switch w := c.wire.(type) {
	case *transport.LoopConn:
		w.Idle(c)
	case *transport.TLSConn:
		w.Idle(c)
	}
}

// Ready implements transport.Handler.
func (c *conn) Ready(*transport.LoopConn) {
	t, s := c.thread, c.slot
	t.Rec.Lock()
	defer t.Rec.Unlock()
	l := t.driver.(*loopDriver)
	for range readsAtOnce {
		if !c.current() {
			return
		}
		n, ok, err := c.wire.TryRead(l.in)
		if !ok {
			break
		}
		t.received(s, l.in[:n], err)
	}
	if c.current() {
		t.refill(s)
		l.attend(c)
	}
}

// Expired implements transport.Handler. There are no deadlines.
func (c *conn) Expired(*transport.LoopConn) {}
