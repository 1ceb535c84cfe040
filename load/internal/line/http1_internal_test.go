package line

import (
	"net"
	"testing"
	"time"

	"github.com/weirhq/weir/load/internal/program"
)

// TestGoneWhilePipelined closes the connection as an exchange does that has read its end, before that has removed it
// from the line. A request behind it has sent nothing, and goes to the next connection.
func TestGoneWhilePipelined(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	defer func() { l.Close(); <-done }()
	line := HTTP1(l.Addr().String(), nil).(*http1Line)
	if _, err := line.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := line.c
	ended.Close()
	message, sent := &program.Message{Head: []byte("GET / HTTP/1.1\r\n\r\n")}, 0
	watch := Watch{Sending: func() { sent++ }, Began: func() {}}
	if _, err := line.Exchange(t.Context(), message, watch); err != ErrGone || sent != 1 {
		t.Errorf("an exchange over a closed connection: %v, want %v", err, ErrGone)
	}
	if !line.leave(ended) {
		t.Error("the exchange has removed the connection, and nobody counts its end")
	}
	if o, err := line.Open(t.Context()); !o.Made || err != nil {
		t.Errorf("opening again: %+v, %v", o, err)
	}
	line.c.SetReadDeadline(time.Unix(1, 0))
	if _, err := line.Exchange(t.Context(), message, watch); err == nil || err == ErrGone {
		t.Errorf("an exchange whose response does not arrive: %v", err)
	}
}
