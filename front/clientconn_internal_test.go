package front

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/weirhq/weir/proxy"
)

// TestClientLeavesEarly uses a connection whose client has disconnected before
// the exchange begins. The exchange does not wait for the upstream.
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
