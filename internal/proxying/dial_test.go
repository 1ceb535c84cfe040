package proxying_test

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// bound returns a bound socket that does not listen, and its address. No other
// process can listen there, so connections to it are refused.
func bound(t *testing.T) (fd int, addr string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fd, (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*syscall.SockaddrInet4).Port}).String()
}

// deaf returns the address of a listening socket with a full backlog, so that
// connecting to it blocks.
func deaf(t *testing.T) string {
	t.Helper()
	fd, addr := bound(t)
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("needs a kernel that stops accepting when the queue of a socket is full, as Linux does")
	return ""
}

// TestCancelWhileDialling checks that dialling ends when the client
// disconnects, and that the server is not blamed.
func TestCancelWhileDialling(t *testing.T) {
	t.Parallel()
	dialling := make(chan struct{})
	d := openDoor(t, func(p *proxying.Proxy) {
		told := p.Hook
		p.Hook = func(x *proxying.Exchange, e proxying.Event) {
			if e == proxying.Sending {
				close(dialling)
			}
			told(x, e)
		}
	}, "http://"+deaf(t))
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", d.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-dialling
		leave()
	}()
	if _, err := d.client(1).Do(r); err == nil {
		t.Error("there was a response")
	}
	select {
	case o := <-d.outcomes:
		if o.kind != proxying.ClientGone || o.status != 499 {
			t.Errorf("kind %s, status %d: %v", o.kind, o.status, o.err)
		}
	case <-time.After(4 * time.Second): // dialling ends by itself after five seconds
		t.Error("the upstream is still dialled")
	}
}
