package proxying

import (
	"errors"
	"net"
	"testing"
	"time"
)

// TestWaitingExchangesAreLimited checks that at most maxWaiting exchanges wait and that further
// ones fail immediately.
func TestWaitingExchangesAreLimited(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	nobody := Endpoint{URL: "http://" + c.LocalAddr().String()}
	up, err := NewUpstream("test", Options{Servers: []Endpoint{nobody}, ConnectRetry: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	up.waiting.Store(maxWaiting)
	x := &Exchange{}
	tr := &transfer{x: x, up: up}
	_, failure := up.connect(tr, newConnOnly)
	if !errors.Is(failure, ErrTooManyWaiting) {
		t.Errorf("one more than may wait: %v", failure)
	}
	if n, _ := up.Waiting(); n != maxWaiting {
		t.Errorf("%d wait afterwards, want %d", n, maxWaiting)
	}
}
