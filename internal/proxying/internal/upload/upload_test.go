package upload

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/pool"
	"github.com/weirhq/weir/internal/transport"
)

// An owner is an exchange whose body may be stopped.
type owner struct{ stop func() }

func (*owner) Fault(err error) error { return fmt.Errorf("fault: %w", err) }
func (*owner) Arm(*pool.Conn)        {}
func (o *owner) StopReading()        { o.stop() }

func (*owner) EachTrailer(add func(name, value string)) { add("X-Sum", "7") }

// dropping is a body that arrives byte by byte.
type dropping struct{ left, longest int }

func (d *dropping) Read(p []byte) (int, error) {
	d.longest = max(d.longest, len(p))
	if d.left == 0 {
		return 0, io.EOF
	}
	d.left--
	return 1, nil
}

// TestSpaceGrowsWithTheFlow checks that an upload waits with a small buffer if its body
// arrives byte by byte, and reads whole blocks if it arrives faster.
func TestSpaceGrowsWithTheFlow(t *testing.T) {
	t.Parallel()
	body := &dropping{left: 100}
	u := Start(new(owner), transport.Goroutines, body, -1, true)
	u.Begin(nil, nil) // no upstream to send to
	if transport.Goroutines.Wait(u.done, 0); body.longest > smallRead || u.buffer != nil {
		t.Errorf("a small block was read for with %d bytes, want %d at most", body.longest, smallRead)
	}
	if n := u.Finish(time.Hour); n != 100 {
		t.Errorf("%d bytes were read, want 100", n)
	}
	flow := strings.Repeat("0123456789", blockLength)
	u = Start(new(owner), transport.Goroutines, strings.NewReader(flow), -1, true)
	transport.Goroutines.Wait(u.begun, 0)
	u.conn = new(pool.Conn)
	if b := u.encode(); string(b) != fmt.Sprintf("%x\r\n%s\r\n", blockLength, flow[:blockLength]) {
		t.Errorf("the first block has %d bytes that begin with %q; want %d", len(b), b[:20], blockLength)
	}
	u.Begin(nil, nil)
	if n := u.Finish(time.Hour); n != int64(len(flow)) {
		t.Errorf("%d bytes were read, want %d", n, len(flow))
	}
}

// TestBodiesAreSentInTheirFraming sends bodies of both framings, with a head, and compares the bytes that arrive.
func TestBodiesAreSentInTheirFraming(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		length int64
		body   string
		want   string
	}{
		{"length", 5, "hello", "HEAD hello"},
		{"chunks", -1, "hello", "HEAD 5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n"},
		{"no chunk", -1, "", "HEAD 0\r\nX-Sum: 7\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, sent := connect(t)
			u := Start(new(owner), transport.Goroutines, strings.NewReader(c.body), c.length, true)
			if err := u.Beginning(); err != nil {
				t.Fatal(err)
			}
			if err := u.SendTo(conn, []byte("HEAD ")); err != nil {
				t.Fatal(err)
			}
			if !u.Whole() || !u.Ended() || !u.Uses(conn) {
				t.Errorf("whole %v, ended %v", u.Whole(), u.Ended())
			}
			u.Finish(time.Hour)
			conn.Close()
			if got := <-sent; got != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
		})
	}
}

// connect returns a connection and the bytes that are sent on it until its end.
func connect(t *testing.T) (*pool.Conn, <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	sent := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			sent <- err.Error()
			return
		}
		defer c.Close()
		b, _ := io.ReadAll(c)
		sent <- string(b)
	}()
	p := &pool.Pool{Addr: l.Addr().String()}
	conn, err := p.Dial(t.Context(), transport.Goroutines, new(pool.Request))
	if err != nil {
		t.Fatal(err)
	}
	return conn, sent
}

// TestIncompleteBodyIsAFault ends bodies before their declared length: by an end, an error and a panic.
func TestIncompleteBodyIsAFault(t *testing.T) {
	t.Parallel()
	reset := errors.New("reset by the test")
	for _, body := range []io.Reader{strings.NewReader("hell"), io.MultiReader(strings.NewReader("h"), failing{reset}), nil} {
		u := Start(new(owner), transport.Goroutines, body, 5, true)
		u.Begin(nil, nil)
		transport.Goroutines.Wait(u.done, 0)
		if err := u.Fault(); err == nil || !strings.HasPrefix(err.Error(), "fault: ") || u.Ended() || u.Whole() {
			t.Errorf("%v: the fault is %v", body, err)
		}
		u.Finish(time.Hour)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestFinishStopsReading finishes an upload whose client sends nothing.
func TestFinishStopsReading(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	u := Start(&owner{func() { w.CloseWithError(io.ErrClosedPipe) }}, transport.Goroutines, r, 5, true)
	if err := u.Beginning(); err != nil || !u.Waiting() {
		t.Errorf("before the first byte: %v, waiting %v", err, u.Waiting())
	}
	if n := u.Finish(0); n != 0 {
		t.Errorf("%d bytes were read", n)
	}
}
