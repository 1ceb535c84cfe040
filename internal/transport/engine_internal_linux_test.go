package transport

import (
	"net"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

func init() {
	engines = append(engines, struct {
		name string
		new  func(t *testing.T) *engine
	}{"loop", func(t *testing.T) *engine {
		l := startLoop(t)
		return &engine{driver: l.Loop, do: l.do, adopt: l.adopt}
	}})
}

// A testLoop is a loop that runs until the end of the test. A panic on it fails the test.
type testLoop struct{ *Loop }

func startLoop(t testing.TB) testLoop {
	t.Helper()
	return startLoopFor(t, func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) })
}

func startLoopFor(t testing.TB, onPanic func(any, []byte)) testLoop {
	t.Helper()
	l, err := NewLoop(1, onPanic)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run()
	}()
	t.Cleanup(func() {
		l.Close()
		testkit.Receive(t, "the end of the loop", done)
	})
	return testLoop{l}
}

// do runs f as a task, and waits for its end.
func (l testLoop) do(f func()) {
	done := make(chan struct{})
	l.Post(func() {
		l.Go(taskFunc(func() {
			defer close(done)
			f()
		}))
	})
	<-done
}

// call calls f on the loop, outside of a task, and waits for its end.
func (l testLoop) call(f func()) {
	done := make(chan struct{})
	l.Post(func() {
		defer close(done)
		f()
	})
	<-done
}

func (l testLoop) adopt(t *testing.T, nc *net.TCPConn) Carrier {
	t.Helper()
	c, err := l.attach(nc)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (l testLoop) attach(nc *net.TCPConn) (c *LoopConn, err error) {
	plain, err := NewConn(nc)
	if err != nil {
		return nil, err
	}
	l.call(func() { c, err = l.Attach(plain) })
	return c, err
}

// pair returns a connection of the loop, and its peer.
func (l testLoop) pair(t testing.TB) (*LoopConn, *net.TCPConn) {
	t.Helper()
	accepted, peer := testkit.Pair(t)
	c, err := l.attach(accepted)
	if err != nil {
		t.Fatal(err)
	}
	return c, peer
}
