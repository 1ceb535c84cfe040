package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/testkit"
)

// TestPostCallsFunctionsInOrder posts functions from several goroutines, while the loop sleeps and while it is
// busy. All of them must be called, and those of one goroutine in their order.
func TestPostCallsFunctionsInOrder(t *testing.T) {
	l := startLoop(t)
	const goroutines, each = 8, 5000
	var got [goroutines]int
	done := make(chan struct{})
	for g := range goroutines {
		go func() {
			for i := range each {
				l.Post(func() {
					if got[g] != i {
						t.Errorf("goroutine %d: call %d comes after %d calls", g, i, got[g])
					}
					got[g]++
				})
				if i%1000 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			l.Post(func() { done <- struct{}{} })
		}()
	}
	for range goroutines {
		<-done
	}
}

// TestPostAfterTheEndCallsNothing checks that Post reports that it does not call its function.
func TestPostAfterTheEndCallsNothing(t *testing.T) {
	l, err := NewLoop(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	called := false
	l.Post(func() { called = true })
	l.Run()
	if !called {
		t.Error("a function that was posted before Run was not called")
	}
	if l.Post(func() {}) {
		t.Error("Post returned true after the end")
	}
}

// TestWokenTasksRunBeforeOthers checks that a task that is started by another one, and one that gets its signal,
// run before those that are waiting for their turn, however many these are.
func TestWokenTasksRunBeforeOthers(t *testing.T) {
	l := startLoop(t)
	const others = 100
	var order []string
	done := make(chan struct{})
	l.Post(func() {
		l.Go(taskFunc(func() {
			s := NewSignal()
			l.Go(taskFunc(func() {
				order = append(order, "started")
				s.Send()
			}))
			l.Wait(s, 0)
			order = append(order, "woken")
		}))
		for range others {
			l.Go(taskFunc(func() {
				if order = append(order, "other"); len(order) == others+2 {
					close(done)
				}
			}))
		}
	})
	<-done
	if order[0] != "started" || order[1] != "woken" || order[2] != "other" {
		t.Errorf("the tasks ran in the order %q", order[:3])
	}
}

// TestPanicEndsOnlyItsTask checks that a panic in each kind of function is reported, and that the loop
// and other tasks continue.
func TestPanicEndsOnlyItsTask(t *testing.T) {
	reported := make(chan string, 10)
	l := startLoopFor(t, func(value any, stack []byte) {
		if !strings.Contains(string(stack), "loop_internal_linux_test.go") {
			t.Errorf("stack = %s", stack)
		}
		reported <- value.(string)
	})
	expect := func(want string) {
		t.Helper()
		if got := <-reported; got != want {
			t.Errorf("reported %q, want %q", got, want)
		}
	}
	c, peer := l.pair(t)
	read := make(chan struct{})
	l.Post(func() {
		l.Go(taskFunc(func() { c.Read(make([]byte, 1)); close(read) }))
		l.Go(taskFunc(func() { panic("task") }))
	})
	expect("task")
	l.Post(func() { panic("posted") })
	expect("posted")
	l.do(func() {
		defer func() { reported <- recover().(string) }()
		l.Block(func() { panic("blocked") })
	})
	expect("blocked")
	peer.Write([]byte("x"))
	<-read
	for name, end := range map[string]func(c *LoopConn, peer *net.TCPConn){
		"ready":   func(c *LoopConn, peer *net.TCPConn) { peer.Write([]byte("x")) },
		"expired": func(c *LoopConn, _ *net.TCPConn) { c.SetReadDeadline(Past) },
		"hung up": func(c *LoopConn, peer *net.TCPConn) { peer.CloseWrite() },
	} {
		c, peer := l.pair(t)
		l.call(func() {
			if name == "hung up" {
				c.Watch(panicking{})
			} else {
				c.Idle(panicking{})
			}
		})
		end(c, peer)
		expect(name)
		if _, err := peer.Read(make([]byte, 1)); err == nil || err == io.EOF {
			t.Errorf("%s: the peer's error = %v, want a reset", name, err)
		}
	}
}

type panicking struct{}

func (panicking) Ready(*LoopConn)   { panic("ready") }
func (panicking) Expired(*LoopConn) { panic("expired") }
func (panicking) HungUp(bool)       { panic("hung up") }

// TestCoroutinesAreReused checks that tasks that follow each other run in one coroutine,
// and that the coroutines of a burst of tasks end after it.
func TestCoroutinesAreReused(t *testing.T) {
	l := startLoop(t)
	for range 100 {
		l.do(func() {})
	}
	unused := func() (n int) {
		for active := 1; active > 0; {
			l.call(func() { n, active = len(l.unused), l.active })
		}
		return n
	}
	if n := unused(); n != 1 {
		t.Errorf("%d coroutines for one task at a time", n)
	}
	c, peer := l.pair(t)
	var conns []*LoopConn
	for range 100 {
		other, _ := l.pair(t)
		conns = append(conns, other)
	}
	l.call(func() {
		for _, c := range conns {
			l.Go(taskFunc(func() { c.Read(make([]byte, 1)) }))
		}
	})
	for _, c := range conns {
		c.Close()
	}
	if n := unused(); n != 100 {
		t.Errorf("%d coroutines after 100 tasks at the same time", n)
	}
	testkit.Await(t, "the end of most coroutines", func() bool { return unused() <= keptCoroutines })
	l.Post(func() { l.Go(taskFunc(func() { c.Write([]byte("x")) })) })
	if _, err := peer.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// A recorder is a handler and a watcher that sends its calls to a channel.
type recorder struct {
	calls chan string
	again bool // be idle again after each call
	buf   [8]byte
}

func newRecorder(again bool) *recorder { return &recorder{calls: make(chan string, 100), again: again} }

func (r *recorder) Ready(c *LoopConn) {
	n, ok, err := c.TryRead(r.buf[:])
	switch {
	case errors.Is(err, net.ErrClosed):
		r.calls <- "closed"
		return
	case err != nil:
		r.calls <- "error"
		return
	case ok && n == 0:
		r.calls <- "end"
		return
	case ok:
		r.calls <- "bytes " + string(r.buf[:n])
	}
	if r.again || !ok {
		c.Idle(r)
	}
}

func (r *recorder) Expired(c *LoopConn) {
	r.calls <- "expired"
	if r.again {
		c.SetReadDeadline(time.Time{})
		c.Idle(r)
	}
}

func (r *recorder) HungUp(reset bool) {
	if reset {
		r.calls <- "reset"
	} else {
		r.calls <- "end"
	}
}

func (r *recorder) expect(t *testing.T, want string) {
	t.Helper()
	if got := testkit.Receive(t, "call "+want, r.calls); got != want {
		t.Errorf("call %q, want %q", got, want)
	}
}

func (r *recorder) expectNone(t *testing.T) {
	t.Helper()
	select {
	case got := <-r.calls:
		t.Errorf("call %q, want none", got)
	case <-time.After(20 * time.Millisecond):
	}
}

func TestIdleCallsItsHandler(t *testing.T) {
	l := startLoop(t)
	c, peer := l.pair(t)
	r := newRecorder(true)
	l.call(func() { c.Idle(r) })
	peer.Write([]byte("first"))
	r.expect(t, "bytes first")
	peer.Write([]byte("12345678second")) // more than one read of the handler
	r.expect(t, "bytes 12345678")
	r.expect(t, "bytes second")
	c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	r.expect(t, "expired")
	l.call(func() { c.Idle(nil) })
	peer.Write([]byte("third"))
	r.expectNone(t)
	l.call(func() { c.Idle(r) }) // the bytes have arrived before
	r.expect(t, "bytes third")
	peer.CloseWrite()
	r.expect(t, "end")
	c.Close() // after its last call the connection is not idle
	r.expectNone(t)

	c, _ = l.pair(t)
	l.call(func() { c.Idle(r) })
	c.Close()
	r.expect(t, "closed")
	r.expectNone(t)
}

// TestIdleCallsOnce checks that a handler that does not call Idle again gets no more calls.
func TestIdleCallsOnce(t *testing.T) {
	l := startLoop(t)
	c, peer := l.pair(t)
	r := newRecorder(false)
	l.call(func() { c.Idle(r) })
	peer.Write([]byte("x"))
	r.expect(t, "bytes x")
	peer.Write([]byte("y"))
	c.SetReadDeadline(Past)
	r.expectNone(t)
	l.call(func() {
		c.SetReadDeadline(time.Time{})
		c.Idle(r)
	})
	r.expect(t, "bytes y")
	c.SetReadDeadline(Past)
	l.call(func() { c.Idle(r) })
	r.expect(t, "expired")
}

func TestWatchReportsTheEnd(t *testing.T) {
	l := startLoop(t)
	t.Run("end, then reset", func(t *testing.T) {
		c, peer := l.pair(t)
		r := newRecorder(false)
		l.call(func() { c.Watch(r) })
		peer.Write([]byte("bytes that nothing reads"))
		r.expectNone(t)
		peer.CloseWrite()
		r.expect(t, "end")
		peer.SetLinger(0)
		peer.Close()
		l.do(func() { c.Write([]byte("x")) }) // after the end, only a write provokes the reset
		r.expect(t, "reset")
		r.expectNone(t)
	})
	t.Run("reset", func(t *testing.T) {
		c, peer := l.pair(t)
		r := newRecorder(false)
		l.call(func() { c.Watch(r) })
		peer.SetLinger(0)
		peer.Close()
		r.expect(t, "reset")
		r.expectNone(t)
	})
	t.Run("earlier", func(t *testing.T) {
		c, peer := l.pair(t)
		peer.CloseWrite()
		time.Sleep(5 * time.Millisecond)
		r := newRecorder(false)
		l.call(func() {}) // a turn, in which the loop learns of the end
		l.call(func() { c.Watch(r) })
		r.expect(t, "end")
	})
	t.Run("not any more", func(t *testing.T) {
		c, peer := l.pair(t)
		r := newRecorder(false)
		l.call(func() { c.Watch(r); c.Watch(nil) })
		peer.CloseWrite()
		r.expectNone(t)
	})
	t.Run("own end", func(t *testing.T) {
		c, peer := l.pair(t)
		r := newRecorder(false)
		l.call(func() { c.Watch(r); c.CloseWrite() })
		peer.CloseWrite()
		r.expect(t, "end")
		r.expectNone(t)
	})
}

// TestClosedLoopLeavesNothingOpen closes a loop with an idle connection, one with a task that waits and one
// with a task in Block.
func TestClosedLoopLeavesNothingOpen(t *testing.T) {
	files := testkit.Descriptors(t, os.Getpid())
	l, err := NewLoop(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { l.Run(); close(ended) }()
	tl := testLoop{l}
	idle, peer := tl.pair(t)
	waiting, _ := tl.pair(t)
	r := newRecorder(false)
	var tasks atomic.Int32
	inBlock := make(chan struct{})
	tl.call(func() {
		idle.Idle(r)
		l.Go(taskFunc(func() {
			if _, err := waiting.Read(make([]byte, 1)); err != net.ErrClosed {
				t.Errorf("error = %v, want net.ErrClosed", err)
			}
			tasks.Add(1)
		}))
		l.Go(taskFunc(func() {
			l.Block(func() { <-inBlock })
			if _, err := l.Add(-1, waiting.Remote()); err != net.ErrClosed {
				t.Errorf("Add = %v, want net.ErrClosed", err)
			}
			tasks.Add(1)
		}))
	})
	l.Close()
	r.expect(t, "closed")
	if _, err := peer.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the peer's error = %v", err)
	}
	select {
	case <-ended:
		t.Error("Run returned before the end of all tasks")
	case <-time.After(20 * time.Millisecond):
	}
	close(inBlock)
	<-ended
	if tasks.Load() != 2 {
		t.Errorf("%d tasks have ended, want 2", tasks.Load())
	}
	if n := testkit.Descriptors(t, os.Getpid()); n != files+2 { // the peers
		t.Errorf("%d files are open, %d before", n, files)
	}
}

// TestMovedConnectionLosesNoByte moves a connection from the loop to a goroutine and back while bytes arrive.
func TestMovedConnectionLosesNoByte(t *testing.T) {
	l := startLoop(t)
	c, peer := l.pair(t)
	files := testkit.Descriptors(t, os.Getpid())
	var conn Conn = c
	for i := range 10 {
		peer.Write([]byte{'a' + byte(i)})
		buf := make([]byte, 10)
		read := func() {
			if n, err := conn.Read(buf); n != 1 || err != nil || buf[0] != 'a'+byte(i) {
				t.Errorf("Read = %q, %v", buf[:n], err)
			}
		}
		if c, ok := conn.(*LoopConn); ok {
			l.do(read)
			l.call(func() {
				detached, err := c.Detach()
				if err != nil {
					t.Error(err)
				}
				conn = detached
			})
			if _, err := c.Write([]byte("x")); err != net.ErrClosed {
				t.Errorf("Write to the connection that has moved = %v", err)
			}
		} else {
			read()
			l.call(func() {
				attached, err := l.Attach(conn.(*NetConn))
				if err != nil {
					t.Error(err)
				}
				conn = attached
			})
		}
	}
	if n := testkit.Descriptors(t, os.Getpid()); n != files {
		t.Errorf("%d files are open, %d before", n, files)
	}
	peer.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := peer.Read(make([]byte, 1)); err == io.EOF {
		t.Error("the connection was closed")
	}
}

// TestUrgentDataHidesNoOtherBytes sends urgent data amid other bytes. A read ends before it, and does not
// mean that nothing else has arrived.
func TestUrgentDataHidesNoOtherBytes(t *testing.T) {
	l := startLoop(t)
	c, peer := l.pair(t)
	raw, err := peer.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		unix.Write(int(fd), []byte("before"))
		unix.Sendto(int(fd), []byte("!"), unix.MSG_OOB, nil)
		unix.Write(int(fd), []byte("after"))
	})
	time.Sleep(5 * time.Millisecond)
	l.do(func() {
		c.SetReadDeadline(time.Now().Add(time.Second))
		var got []byte
		buf := make([]byte, 100)
		for len(got) < len("beforeafter") {
			n, err := c.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				t.Error(err)
				break
			}
		}
		if string(got) != "beforeafter" {
			t.Errorf("got %q", got)
		}
	})
}

// TestExpiryIsReportedBeforeBytes checks that a handler whose deadline has passed learns of that,
// although bytes have arrived as well, because TryRead fails.
func TestExpiryIsReportedBeforeBytes(t *testing.T) {
	l := startLoop(t)
	c, peer := l.pair(t)
	peer.Write([]byte("x"))
	time.Sleep(5 * time.Millisecond)
	r := newRecorder(true)
	c.SetReadDeadline(Past)
	l.call(func() { c.Idle(r) })
	r.expect(t, "expired")
	r.expect(t, "bytes x")
}

// TestIdleConnectionsAreSmall limits the memory of an idle connection.
func TestIdleConnectionsAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(LoopConn{}); size > 192 {
		t.Errorf("a connection takes %d bytes", size)
	}
}

// A turnCounter is a TurnEnder that calls itself once more.
type turnCounter struct {
	loop  *Loop
	calls []string
}

func (c *turnCounter) EndTurn() {
	if c.calls = append(c.calls, "end"); len(c.calls) == 2 {
		c.loop.AtTurnEnd(c)
	}
}

// TestEndTurnIsCalledOnce checks that EndTurn is called once for each AtTurnEnd, after the rest of the turn.
func TestEndTurnIsCalledOnce(t *testing.T) {
	l := startLoop(t)
	c := &turnCounter{loop: l.Loop}
	done := make(chan []string)
	l.Post(func() {
		l.AtTurnEnd(c)
		c.calls = append(c.calls, "posted")
	})
	l.Post(func() { l.Post(func() { done <- c.calls }) })
	if calls := <-done; !slices.Equal(calls, []string{"posted", "end", "end"}) {
		t.Errorf("the calls are %q", calls)
	}
}
