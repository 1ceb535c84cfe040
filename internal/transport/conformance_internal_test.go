package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// An engine runs a part of a test with one of the drivers.
type engine struct {
	driver Driver
	do     func(f func()) // calls f in a goroutine or task, and waits for its end
	adopt  func(t *testing.T, nc *net.TCPConn) Carrier
	tls    bool // connections have TLS
}

// A peer is the other end of a connection.
type peer interface {
	net.Conn
	CloseWrite() error
	SetLinger(seconds int) error
}

// eachEngine runs a test with each driver.
func eachEngine(t *testing.T, test func(t *testing.T, e *engine)) {
	for _, start := range engines {
		t.Run(start.name, func(t *testing.T) { test(t, start.new(t)) })
		t.Run(start.name+" with TLS", func(t *testing.T) {
			e := start.new(t)
			e.tls = true
			test(t, e)
		})
	}
}

var engines = []struct {
	name string
	new  func(t *testing.T) *engine
}{
	{"goroutines", func(*testing.T) *engine {
		return &engine{
			driver: Goroutines,
			do:     func(f func()) { f() },
			adopt: func(t *testing.T, nc *net.TCPConn) Carrier {
				c, err := NewConn(nc)
				if err != nil {
					t.Fatal(err)
				}
				return c
			},
		}
	}},
}

// pair returns a connection of the engine, and its peer.
func (e *engine) pair(t *testing.T) (Conn, peer) {
	t.Helper()
	accepted, nc := testkit.Pair(t)
	c := e.adopt(t, accepted)
	t.Cleanup(func() { c.Close() })
	if e.tls {
		return e.handshake(t, c, nc)
	}
	return c, nc
}

// A heap is a Space that counts how often it was held.
type heap struct {
	b              []byte
	taken, returns int
}

func (h *heap) Space() []byte { h.taken++; return h.b }
func (h *heap) GiveBack()     { h.returns++ }

func newHeap() *heap { return &heap{b: make([]byte, 4096)} }

// later calls f soon, while the test waits in an operation. The test passes also if f is
// called earlier or later than that.
func later(t *testing.T, f func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(20*time.Millisecond, func() {
		defer close(done)
		f()
	})
	t.Cleanup(func() {
		if !timer.Stop() {
			<-done
		}
	})
}

// operations are the calls that wait on a connection whose peer neither reads nor writes.
var operations = map[string]func(c Conn) error{
	"Read":     func(c Conn) error { _, err := c.Read(make([]byte, 10)); return err },
	"ReadInto": func(c Conn) error { _, err := c.ReadInto(newHeap()); return err },
	"WriteReadInto": func(c Conn) error {
		_, _, writeErr, err := c.WriteReadInto([]byte("x"), newHeap())
		return errors.Join(writeErr, err)
	},
	"Write": func(c Conn) error { return fill(c) },
	"Room": func(c Conn) error {
		for {
			n, err := c.Room()
			if err == nil {
				_, err = c.Write(make([]byte, n))
			}
			if err != nil {
				return err
			}
		}
	},
}

// fill writes until an error occurs.
func fill(c Conn) error {
	for {
		if _, err := c.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
	}
}

func TestReadReturnsWrittenBytes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		go io.Copy(peer, peer)
		e.do(func() {
			buf := make([]byte, 100)
			write := func(s string) {
				if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
					t.Errorf("Write = %d, %v", n, err)
				}
			}
			write("first")
			if n, err := c.Read(buf); err != nil || string(buf[:n]) != "first" {
				t.Errorf("Read = %q, %v", buf[:n], err)
			}
			write("second")
			h := newHeap()
			if n, err := c.ReadInto(h); err != nil || string(h.b[:n]) != "second" || h.taken != h.returns+1 {
				t.Errorf("ReadInto = %q, %v; space taken %d times, given back %d times", h.b[:n], err, h.taken, h.returns)
			}
			h = newHeap()
			written, n, writeErr, readErr := c.WriteReadInto([]byte("third"), h)
			if written != 5 || writeErr != nil || readErr != nil || string(h.b[:n]) != "third" || h.taken != h.returns+1 {
				t.Errorf("WriteReadInto = %d, %q, %v, %v; space taken %d times, given back %d times", written, h.b[:n],
					writeErr, readErr, h.taken, h.returns)
			}
			if n, ok, err := c.TryRead(buf); n != 0 || ok || err != nil {
				t.Errorf("TryRead without bytes = %d, %v, %v", n, ok, err)
			}
			write("fourth")
			if _, err := c.Read(buf[:2]); err != nil {
				t.Error(err)
			}
			if n, ok, err := c.TryRead(buf); !ok || err != nil || string(buf[:n]) != "urth" {
				t.Errorf("TryRead = %q, %v, %v", buf[:n], ok, err)
			}
			if n, err := c.Read(nil); n != 0 || err != nil {
				t.Errorf("Read of nothing = %d, %v", n, err)
			}
		})
	})
}

func TestRemoteReturnsAddressOfPeer(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		if got, want := c.Remote(), peer.LocalAddr().(*net.TCPAddr).AddrPort(); got != want {
			t.Errorf("Remote = %v, want %v", got, want)
		}
	})
}

// TestSlowPeerGetsAllBytes writes more than the sockets hold. All bytes must arrive in order.
func TestSlowPeerGetsAllBytes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		body := make([]byte, 20<<20)
		for i := range body {
			body[i] = byte(i >> 10)
		}
		got := make(chan []byte)
		go func() {
			time.Sleep(20 * time.Millisecond) // the sockets' buffers are full
			b, _ := io.ReadAll(peer)
			got <- b
		}()
		e.do(func() {
			if n, err := c.Write(body); n != len(body) || err != nil {
				t.Errorf("Write = %d, %v", n, err)
			}
			c.Close()
		})
		if !bytes.Equal(<-got, body) {
			t.Error("the peer got other bytes")
		}
	})
}

// TestWriteReadIntoReturnsAtFullSocket checks that WriteReadInto returns how much of a large
// request the socket took, and does not wait for a response.
func TestWriteReadIntoReturnsAtFullSocket(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, _ := e.pair(t)
		e.do(func() {
			p := make([]byte, 20<<20)
			written, n, writeErr, readErr := c.WriteReadInto(p, newHeap())
			if written == 0 || written >= len(p) || n != 0 || writeErr != nil || readErr != nil {
				t.Errorf("WriteReadInto = %d, %d, %v, %v", written, n, writeErr, readErr)
			}
		})
	})
}

// Another goroutine interrupts each operation that waits.
func TestInterruptEndsEachWait(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		for name, operation := range operations {
			t.Run(name, func(t *testing.T) {
				c, _ := e.pair(t)
				later(t, func() { c.SetDeadline(Past) })
				e.do(func() {
					if err := operation(c); !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("error = %v, want os.ErrDeadlineExceeded", err)
					}
				})
			})
		}
	})
}

// TestDeadlineEndsEachWait checks that each operation ends at its deadline, and not earlier.
func TestDeadlineEndsEachWait(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		for name, operation := range operations {
			t.Run(name, func(t *testing.T) {
				c, _ := e.pair(t)
				e.do(func() {
					deadline := time.Now().Add(50 * time.Millisecond)
					c.SetReadDeadline(deadline)
					c.SetWriteDeadline(deadline)
					err := operation(c)
					if late := time.Since(deadline); !errors.Is(err, os.ErrDeadlineExceeded) || late < 0 {
						t.Errorf("error = %v, %v after the deadline", err, late)
					}
					if err := operation(c); !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("error after the deadline = %v", err)
					}
				})
			})
		}
	})
}

// TestDeadlineMayMoveDuringRead moves a deadline later, earlier and away while Read waits.
func TestDeadlineMayMoveDuringRead(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		e.do(func() {
			start := time.Now()
			c.SetReadDeadline(start.Add(30 * time.Millisecond))
			c.SetReadDeadline(start.Add(200 * time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("error = %v", err)
			}
			if waited := time.Since(start); waited < 200*time.Millisecond {
				t.Errorf("the deadline passed after %v, want 200ms", waited)
			}
			c.SetReadDeadline(time.Now().Add(time.Hour))
		})
		later(t, func() { c.SetReadDeadline(time.Now().Add(10 * time.Millisecond)) })
		e.do(func() {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("error = %v", err)
			}
			c.SetReadDeadline(time.Time{})
		})
		later(t, func() { peer.Write([]byte("x")) })
		e.do(func() {
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Errorf("error without a deadline = %v", err)
			}
		})
	})
}

func TestEndOfStreamIsEOF(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		peer.Write([]byte("last"))
		peer.CloseWrite()
		e.do(func() {
			buf := make([]byte, 100)
			if n, err := c.Read(buf); err != nil || string(buf[:n]) != "last" {
				t.Errorf("Read = %q, %v", buf[:n], err)
			}
			if n, err := c.Read(buf); n != 0 || err != io.EOF {
				t.Errorf("Read = %d, %v, want EOF", n, err)
			}
			if n, err := c.ReadInto(newHeap()); n != 0 || err != io.EOF {
				t.Errorf("ReadInto = %d, %v, want EOF", n, err)
			}
			if n, ok, err := c.TryRead(buf); n != 0 || !ok || err != nil {
				t.Errorf("TryRead = %d, %v, %v, want 0, true, nil", n, ok, err)
			}
			if _, err := c.Write([]byte("x")); err != nil {
				t.Errorf("Write to a peer that only sends no more = %v", err)
			}
		})
	})
}

func TestEndOfStreamWakesTheReader(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		later(t, func() { peer.CloseWrite() })
		e.do(func() {
			if _, err := c.Read(make([]byte, 10)); err != io.EOF {
				t.Errorf("Read = %v, want EOF", err)
			}
		})
	})
}

func TestResetEndsEachWait(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		for name, operation := range operations {
			t.Run(name, func(t *testing.T) {
				c, peer := e.pair(t)
				later(t, func() {
					peer.SetLinger(0)
					peer.Close()
				})
				e.do(func() {
					err := operation(c)
					if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
						t.Errorf("error = %v", err)
					}
				})
			})
		}
	})
}

func TestQuietFindsSurplusBytes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		for _, c := range []struct {
			name           string
			arrive         func(peer peer)
			quiet, surplus bool
		}{
			{"nothing", func(peer) {}, true, false},
			{"bytes", func(peer peer) { peer.Write([]byte("x")) }, false, true},
			{"end", func(peer peer) { peer.CloseWrite() }, false, false},
			{"bytes and end", func(peer peer) { peer.Write([]byte("x")); peer.CloseWrite() }, false, true},
			{"reset", func(peer peer) { peer.SetLinger(0); peer.Close() }, false, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				conn, peer := e.pair(t)
				e.do(func() {
					peer.Write([]byte("response"))
					conn.SetReadDeadline(time.Now().Add(time.Second))
					if _, err := conn.Read(make([]byte, 100)); err != nil {
						t.Error(err)
					}
					conn.SetReadDeadline(Past)
				})
				c.arrive(peer)
				time.Sleep(2 * time.Millisecond)
				e.do(func() {
					if quiet, surplus := conn.Quiet(); quiet != c.quiet || surplus != c.surplus {
						t.Errorf("Quiet = %v, %v; want %v, %v", quiet, surplus, c.quiet, c.surplus)
					}
					if _, _, err := conn.TryRead(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
						t.Error("the expired deadline is still set")
					}
				})
			})
		}
	})
}

func TestCloseWriteLeavesReadingOpen(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		go func() {
			b, _ := io.ReadAll(peer)
			peer.Write(append(b, "-answer"...))
			peer.Close()
		}()
		e.do(func() {
			c.Write([]byte("request"))
			if err := c.CloseWrite(); err != nil {
				t.Error(err)
			}
			var got []byte
			buf := make([]byte, 100)
			for {
				n, err := c.Read(buf)
				got = append(got, buf[:n]...)
				if err != nil {
					if err != io.EOF {
						t.Error(err)
					}
					break
				}
			}
			if string(got) != "request-answer" {
				t.Errorf("got %q", got)
			}
			if _, err := c.Write([]byte("x")); err == nil {
				t.Error("Write after CloseWrite succeeded")
			}
		})
	})
}

func TestAbortResetsTheConnection(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		e.do(func() { c.Abort() })
		if _, err := peer.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the peer's error = %v, want a reset", err)
		}
	})
}

// TestRoomWaitsForThePeer checks that Room waits while the socket is full, and returns when the peer has
// read.
func TestRoomWaitsForThePeer(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		e.do(func() {
			n, err := c.Room()
			if n < SendBlock || err != nil {
				t.Errorf("Room of an unused socket = %d, %v", n, err)
			}
			c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			for err == nil {
				if n, err = c.Room(); err == nil {
					_, err = c.Write(make([]byte, n))
				}
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			c.SetWriteDeadline(time.Time{})
		})
		later(t, func() { go io.Copy(io.Discard, peer) })
		e.do(func() {
			if n, err := c.Room(); n == 0 || err != nil {
				t.Errorf("Room = %d, %v", n, err)
			}
			c.Close()
		})
	})
}

// TestTryWriteDoesNotWait fills a socket without a wait, continues with Write, and checks that the peer
// gets these bytes.
func TestTryWriteDoesNotWait(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		sent := make([]byte, 16<<20)
		for i := range sent {
			sent[i] = byte(i >> 8)
		}
		taken := 0
		e.do(func() {
			for {
				n, err := c.TryWrite(sent[taken:min(taken+1<<20, len(sent))])
				if taken += n; err != nil {
					t.Error(err)
				}
				if n == 0 || err != nil {
					break
				}
			}
			c.SetWriteDeadline(Past)
			if n, err := c.TryWrite(sent[taken:]); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("after the deadline: %d, %v", n, err)
			}
			c.SetWriteDeadline(time.Time{})
		})
		if taken == 0 || taken >= len(sent) {
			t.Fatalf("the socket took %d bytes of %d", taken, len(sent))
		}
		got := make(chan []byte)
		go func() {
			b, err := io.ReadAll(peer)
			if err != nil {
				t.Error(err)
			}
			got <- b
		}()
		e.do(func() {
			for _, end := range []int{taken + 1, taken + 100, len(sent)} {
				if n, err := c.Write(sent[taken:end]); n != end-taken || err != nil {
					t.Errorf("Write of %d bytes = %d, %v", end-taken, n, err)
				}
				taken = end
			}
			c.CloseWrite()
		})
		if !bytes.Equal(<-got, sent) {
			t.Error("the peer got other bytes")
		}
		e.do(func() { c.Close() })
	})
}

// Another goroutine closes the connection.
func TestCloseEndsEachWait(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		for name, operation := range operations {
			t.Run(name, func(t *testing.T) {
				c, _ := e.pair(t)
				later(t, func() { c.Close() })
				e.do(func() {
					if err := operation(c); !errors.Is(err, net.ErrClosed) {
						t.Errorf("error = %v, want net.ErrClosed", err)
					}
					if err := c.Close(); err != nil {
						t.Errorf("the second Close = %v", err)
					}
					if err := operation(c); !errors.Is(err, net.ErrClosed) {
						t.Errorf("error after Close = %v, want net.ErrClosed", err)
					}
					if err := c.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
						t.Errorf("SetDeadline after Close = %v, want net.ErrClosed", err)
					}
				})
			})
		}
	})
}

// TestTasksMayReadAndWriteAtOnce reads and writes on one connection from two tasks at the same
// time.
func TestTasksMayReadAndWriteAtOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		go io.Copy(peer, peer)
		body := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
		got := make(chan []byte, 1)
		go e.do(func() {
			var b []byte
			for len(b) < len(body) {
				b = slices.Grow(b, 64<<10)
				n, err := c.Read(b[len(b):cap(b)])
				if err != nil {
					t.Error(err)
					break
				}
				b = b[:len(b)+n]
			}
			got <- b
		})
		e.do(func() {
			if _, err := c.Write(body); err != nil {
				t.Error(err)
			}
		})
		if !bytes.Equal(<-got, body) {
			t.Error("got other bytes")
		}
	})
}

func TestDialReachesTheListener(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				nc, err := l.Accept()
				if err != nil {
					return
				}
				nc.Write([]byte("hello"))
				nc.Close()
			}
		}()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		for _, addr := range []string{l.Addr().String(), "localhost:" + port} {
			e.do(func() {
				c, err := e.driver.Dial(t.Context(), addr)
				if err != nil {
					t.Errorf("%s: %v", addr, err)
					return
				}
				defer c.Close()
				buf := make([]byte, 10)
				if n, err := c.Read(buf); err != nil || string(buf[:n]) != "hello" {
					t.Errorf("Read = %q, %v", buf[:n], err)
				}
				if c.Remote().String() != l.Addr().String() {
					t.Errorf("Remote = %v, want %v", c.Remote(), l.Addr())
				}
			})
		}
	})
}

// TestDialErrorsKeepTheirCause checks the properties of errors by which the proxy classifies them.
func TestDialErrorsKeepTheirCause(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	closed := client.LocalAddr().String() // nobody listens there
	silent := testkit.SilentAddress(t)
	eachEngine(t, func(t *testing.T, e *engine) {
		dial := func(ctx context.Context, addr string) (err error) {
			e.do(func() {
				var c Conn
				if c, err = e.driver.Dial(ctx, addr); err == nil {
					c.Close()
				} else if c != nil {
					t.Error("a connection together with an error")
				}
			})
			return err
		}
		for _, addr := range []string{closed, "nowhere.invalid:80", "127.0.0.1"} {
			var operation *net.OpError
			if err := dial(t.Context(), addr); !errors.As(err, &operation) || operation.Op != "dial" {
				t.Errorf("%s: %v, want a *net.OpError of dial", addr, err)
			}
		}
		if err := dial(t.Context(), closed); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("error = %v, want ECONNREFUSED", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		for range 2 { // the second time, the context is done before the call
			var timeout net.Error
			if err := dial(ctx, silent); !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("error = %v, want a timeout", err)
			}
		}
		cancelled, cancel := context.WithCancel(t.Context())
		later(t, cancel)
		if err := dial(cancelled, silent); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want context.Canceled", err)
		}
	})
}

// TestBlockDelaysNoOtherTask checks that other work of the driver continues while Block waits.
func TestBlockDelaysNoOtherTask(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		other := make(chan struct{})
		go e.do(func() { close(other) })
		called := false
		e.do(func() {
			e.driver.Block(func() {
				<-other
				called = true
			})
			if !called {
				t.Error("Block returned before its function")
			}
		})
	})
}
