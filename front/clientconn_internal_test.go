package front

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/weirhq/weir/proxy"
)

// TestClientLeavesEarly has a client that is known to have left before the
// exchange of its request is held: the upstream is not waited for.
func TestClientLeavesEarly(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		nc, err := mute.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		io.Copy(io.Discard, nc)
	}()
	up, err := proxy.NewUpstream("mute", "http://"+mute.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := &clientConn{server: new(server)}
	c.leave()
	h := new(held)
	h.Method, h.Target, h.Host, h.Timeout = "GET", "/", "a", 20*time.Second
	c.hold(h)
	(&proxy.Proxy{Upstream: up}).Serve(&h.Exchange)
	var failure *proxy.Error
	if !errors.As(h.Err, &failure) || failure.Kind != proxy.ClientGone {
		t.Errorf("the exchange ended with %v, want %s", h.Err, proxy.ClientGone)
	}
	mute.Close()
	<-accepted
}
