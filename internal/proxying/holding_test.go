package proxying

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying/internal/response"
)

// A waitedFor is a slow client that checks the buffers of the exchange whenever
// the exchange waits.
type waitedFor struct {
	x                    *Exchange
	t                    *testing.T
	rooms, flushes, body int
}

func (w *waitedFor) holdsNothing(when string) {
	if held := reflect.ValueOf(&w.x.response).Elem().FieldByName("buf").Len(); held > 0 {
		w.t.Errorf("%s, the exchange holds %d bytes", when, held)
	}
}

func (w *waitedFor) Room() (int, error) {
	w.rooms++
	w.holdsNothing("while the client has no room")
	return response.LeastRoom, nil
}

func (w *waitedFor) Flush() error {
	w.flushes++
	w.holdsNothing("while the upstream is silent")
	return nil
}

func (w *waitedFor) Informational(int, []Field) error { return nil }
func (w *waitedFor) Head(int, []Field, int64) error   { return nil }
func (w *waitedFor) Write(p []byte) (int, error)      { w.body += len(p); return len(p), nil }
func (w *waitedFor) Trailer([]Field)                  {}
func (w *waitedFor) Duplex()                          {}
func (w *waitedFor) StopReading()                     {}
func (w *waitedFor) Tunnel() (Tunnel, []Field, error) { return nil, nil, errors.New("no tunnel") }

// TestWaitingHoldsNoBuffer checks that an exchange holds no response buffer
// while it waits for its client or its upstream.
func TestWaitingHoldsNoBuffer(t *testing.T) {
	t.Parallel()
	const first, second = 200 << 10, 1000 // parts that the upstream sends, with a pause between them
	goOn := make(chan struct{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	played := make(chan error, 1)
	go func() { played <- playPause(l, first, second, goOn) }()
	up, err := NewUpstream("test", Options{Servers: []Endpoint{{URL: "http://" + l.Addr().String()}}})
	if err != nil {
		t.Fatal(err)
	}
	x := &Exchange{Method: "POST", Target: "/", Host: "a", Scheme: "http", Length: -1}
	w := &waitedFor{x: x, t: t}
	x.Client, x.Body = &resuming{waitedFor: w, at: first, goOn: goOn}, &dropping{left: 2000}
	(&Proxy{Upstream: up}).Serve(x)
	up.Close()
	l.Close()
	if err := <-played; err != nil || x.Err != nil {
		t.Fatalf("the exchange ended with %v, the upstream with %v", x.Err, err)
	}
	if w.body != first+second || w.rooms < (first-response.BufferSize)/response.BufferSize || w.flushes == 0 {
		t.Errorf("%d bytes, %d looks for room, %d pauses of the upstream", w.body, w.rooms, w.flushes)
	}
	if x.BodyRead != 2000 {
		t.Errorf("%d bytes of the body were read, want 2000", x.BodyRead)
	}
}

// A resuming client lets the upstream continue when the exchange waits for the
// upstream and the whole first part was taken.
type resuming struct {
	*waitedFor
	at   int
	goOn chan struct{}
}

func (r *resuming) Flush() error {
	if r.body >= r.at && r.goOn != nil {
		close(r.goOn)
		r.goOn = nil
	}
	return r.waitedFor.Flush()
}

// playPause responds to one request in two parts, the second after goOn.
func playPause(l net.Listener, first, second int, goOn <-chan struct{}) error {
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", first+second, strings.Repeat("x", first))
	<-goOn
	_, err = io.WriteString(c, strings.Repeat("y", second))
	return err
}

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
