package transport

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// FuzzLoop runs random schedules on many connections of a loop: reads, writes that fill
// the socket, idle times, watches, deadlines, interrupts and closes from other goroutines,
// moves off the loop and back, with peers that write, pause, read slowly, end or reset
// their connections. Each side checks that it gets the bytes that were sent to it, without
// gaps, and all of them if the stream has ended regularly. Afterwards each task must have
// ended, each connection must be closed, and no descriptor and no timer may be left.
func FuzzLoop(f *testing.F) {
	for seed := range uint64(2) {
		f.Add(seed)
	}
	testkit.Pair(f) // package net opens files of its own with its first connection
	f.Fuzz(func(t *testing.T, seed uint64) {
		files := testkit.Descriptors(t, os.Getpid())
		l := startLoop(t)
		var ended sync.WaitGroup
		var tasks atomic.Int64
		for i := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, i))
			accepted, peer := testkit.Pair(t)
			accepted.SetWriteBuffer(32 << 10)
			c, err := l.attach(accepted)
			if err != nil {
				t.Fatal(err)
			}
			s := &schedule{t: t, loop: l.Loop, tasks: &tasks, ended: &ended, conn: c,
				r:  rand.New(rand.NewPCG(seed, i|1<<32)),
				in: stream{key: 2 * i}, out: stream{key: 2*i + 1}}
			p := &schedulePeer{t: t, conn: peer, r: r, in: stream{key: 2*i + 1}, out: stream{key: 2 * i}}
			ended.Add(3) // the loop's side, and the peer's reader and writer
			l.Post(s.next)
			go func() { defer ended.Done(); p.write() }()
			go func() { defer ended.Done(); p.read() }()
			if r.IntN(3) == 0 {
				disturb(r, c, &ended)
			}
		}
		waitFor(t, &ended)
		l.call(func() {
			for _, c := range l.conns {
				if c != nil {
					t.Error("a connection is left")
				}
			}
			if l.active != 0 || l.running != nil || tasks.Load() != 0 {
				t.Errorf("%d tasks are left, %d by the count of the test", l.active, tasks.Load())
			}
			l.wheel.stop(&l.trim.timer)
			if at, ok := l.wheel.next(); ok {
				t.Errorf("a timer is left, for %v", time.Duration(at))
			}
		})
		if n := testkit.Descriptors(t, os.Getpid()); n != files+2 { // those of the loop
			t.Errorf("%d files are open, %d before", n, files)
		}
	})
}

func waitFor(t *testing.T, ended *sync.WaitGroup) {
	t.Helper()
	done := make(chan struct{})
	go func() { ended.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		stacks := make([]byte, 1<<20)
		t.Fatalf("the schedule does not end\n%s", stacks[:runtime.Stack(stacks, true)])
	}
}

// disturb interrupts or closes a connection from another goroutine.
func disturb(r *rand.Rand, c Conn, ended *sync.WaitGroup) {
	pause, action := time.Duration(r.IntN(20))*time.Millisecond, r.IntN(3)
	ended.Add(1)
	go func() {
		defer ended.Done()
		time.Sleep(pause)
		switch action {
		case 0:
			c.SetDeadline(Past)
		case 1:
			c.SetReadDeadline(time.Now().Add(pause))
		case 2:
			c.Close()
		}
	}()
}

// A stream is a sequence of bytes that depends on its key.
type stream struct {
	key uint64
	at  uint64
}

// next fills p with the next bytes.
func (s *stream) next(p []byte) []byte {
	for i := range p {
		p[i] = byte((s.at*2654435761 + s.key*40503) >> 8)
		s.at++
	}
	return p
}

// check compares p with the next bytes.
func (s *stream) check(t *testing.T, p []byte) {
	start := s.at
	want := s.next(make([]byte, len(p)))
	if string(want) != string(p) {
		t.Errorf("stream %d: other bytes at %d", s.key, start)
	}
}

// A schedule is the loop's side of a connection: a handler while it is idle, and a task.
type schedule struct {
	t       *testing.T
	loop    *Loop
	tasks   *atomic.Int64
	ended   *sync.WaitGroup
	conn    Conn
	r       *rand.Rand
	in, out stream
	steps   int
}

// end closes the connection.
func (s *schedule) end() {
	if s.r.IntN(2) == 0 {
		s.conn.Abort()
	} else {
		s.conn.Close()
	}
	s.ended.Done()
}

// next lets the connection be idle, or starts a task.
func (s *schedule) next() {
	c := s.conn.(*LoopConn)
	if s.steps++; s.steps > 20 {
		s.end()
		return
	}
	if s.r.IntN(2) == 0 {
		s.loop.Go(s)
		return
	}
	c.SetDeadline(time.Now().Add(time.Duration(s.r.IntN(100)) * time.Millisecond))
	c.Idle(s)
}

// Ready implements Handler.
func (s *schedule) Ready(c *LoopConn) {
	if s.r.IntN(2) == 0 {
		s.loop.Go(s)
		return
	}
	buf := make([]byte, 1+s.r.IntN(1000))
	n, ok, err := c.TryRead(buf)
	s.in.check(s.t, buf[:n])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.next()
	case err != nil, ok && n == 0:
		s.end()
	default:
		c.Idle(s)
	}
}

// Expired implements Handler.
func (s *schedule) Expired(*LoopConn) { s.next() }

// HungUp implements Watcher.
func (s *schedule) HungUp(bool) { s.conn.SetReadDeadline(Past) }

// Run implements Task.
func (s *schedule) Run() {
	s.tasks.Add(1)
	defer s.tasks.Add(-1)
	deadline := time.Now().Add(time.Duration(s.r.IntN(200)) * time.Millisecond)
	for range 1 + s.r.IntN(10) {
		s.conn.SetDeadline(deadline) // Quiet and a move remove it
		err := s.step()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			s.end()
			return
		}
	}
	if c, ok := s.conn.(*NetConn); ok {
		attached, err := s.loop.Attach(c)
		if err != nil {
			s.end()
			return
		}
		s.conn = attached
	}
	s.next()
}

// step does one operation.
func (s *schedule) step() (err error) {
	h := &heap{b: make([]byte, 1+s.r.IntN(8192))}
	n := 0
	switch s.r.IntN(8) {
	case 0:
		n, err = s.conn.Read(h.b)
		s.in.check(s.t, h.b[:n])
	case 1:
		n, err = s.conn.ReadInto(h)
		s.in.check(s.t, h.b[:n])
	case 2:
		if c, ok := s.conn.(*LoopConn); ok {
			c.Watch(s)
			defer c.Watch(nil)
		}
		s.loop.Block(func() { time.Sleep(time.Duration(s.r.IntN(5)) * time.Millisecond) })
	case 3:
		if n, err = s.conn.Room(); err == nil {
			err = s.write(n)
		}
	case 4:
		err = s.write(1 + s.r.IntN(200_000))
	case 5:
		var ok bool
		n, ok, err = s.conn.TryRead(h.b)
		s.in.check(s.t, h.b[:n])
		if ok && n == 0 && err == nil {
			err = io.EOF
		}
	case 6:
		before := s.out
		p := s.out.next(make([]byte, 1+s.r.IntN(100_000)))
		var written int
		var writeErr error
		written, n, writeErr, err = s.conn.WriteReadInto(p, h)
		s.out = before
		s.out.next(p[:written])
		s.in.check(s.t, h.b[:n])
		err = errors.Join(writeErr, err)
	case 7:
		if c, ok := s.conn.(*LoopConn); ok && s.r.IntN(4) == 0 {
			return s.detach(c)
		}
		s.conn.Quiet()
	}
	return err
}

// write writes n bytes, and keeps in mind how many of them were sent.
func (s *schedule) write(n int) error {
	before := s.out
	p := s.out.next(make([]byte, n))
	written, err := s.conn.Write(p)
	s.out = before
	s.out.next(p[:written])
	return err
}

// detach reads once in a goroutine, and moves the connection back.
func (s *schedule) detach(c *LoopConn) (err error) {
	d, err := c.Detach()
	if err != nil {
		return err
	}
	s.conn = d
	s.loop.Block(func() {
		d.SetDeadline(time.Now().Add(5 * time.Millisecond))
		buf := make([]byte, 1000)
		var n int
		n, err = d.Read(buf)
		s.in.check(s.t, buf[:n])
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	attached, attachErr := s.loop.Attach(d)
	if attachErr == nil {
		s.conn = attached
	}
	return attachErr
}

// A schedulePeer is the other side of a connection, in two goroutines.
type schedulePeer struct {
	t       *testing.T
	conn    *net.TCPConn
	r       *rand.Rand
	in, out stream
}

func (p *schedulePeer) write() {
	r := rand.New(rand.NewPCG(p.out.key, 7))
	for range r.IntN(60) {
		if _, err := p.conn.Write(p.out.next(make([]byte, 1+r.IntN(20_000)))); err != nil {
			return
		}
		time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
	}
	switch r.IntN(3) {
	case 0:
		p.conn.CloseWrite()
	case 1:
		p.conn.SetLinger(0)
		p.conn.Close()
	}
}

func (p *schedulePeer) read() {
	r := rand.New(rand.NewPCG(p.in.key, 8))
	defer p.conn.Close()
	for {
		buf := make([]byte, 1+r.IntN(50_000))
		n, err := p.conn.Read(buf)
		p.in.check(p.t, buf[:n])
		if err != nil {
			return
		}
		if r.IntN(4) == 0 {
			time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
		}
	}
}
