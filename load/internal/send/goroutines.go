package send

import (
	"io"
	"sync"

	"github.com/weirhq/weir/internal/transport"
)

// A goroutineDriver runs each task in a goroutine, and reads in one for each connection.
type goroutineDriver struct {
	transport.Driver
	running sync.WaitGroup
}

func goroutineDrivers(n int) []driver {
	drivers := make([]driver, n)
	for i := range drivers {
		drivers[i] = &goroutineDriver{Driver: transport.Goroutines}
	}
	return drivers
}

// Go implements transport.Driver.
func (d *goroutineDriver) Go(t transport.Task) { d.running.Go(t.Run) }

// finish implements driver.
func (d *goroutineDriver) finish(task transport.TurnEnder) { task.EndTurn() }

// run implements driver.
func (d *goroutineDriver) run(t *http1) {
	for rest, more := t.pace(); more; rest, more = t.pace() {
		sleep(rest)
	}
	d.running.Wait()
}

// attend implements driver.
func (d *goroutineDriver) attend(c *conn) {
	d.running.Go(func() {
		b := make([]byte, 16<<10)
		for open := true; open; {
			n, err := c.wire.Read(b)
			if n > 0 || err == io.EOF {
				err = nil
			}
			open = c.readOnce(b[:n], err)
		}
	})
}

// readOnce handles the result of a read, and reports whether the connection is still open.
func (c *conn) readOnce(b []byte, err error) bool {
	t, s := c.thread, c.slot
	t.Rec.Lock()
	defer t.Rec.Unlock()
	if !c.current() {
		return false
	}
	t.received(s, b, err)
	if c.current() {
		t.refill(s)
	}
	t.dispatchWaiting()
	return c.current()
}
