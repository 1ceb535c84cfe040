package testkit

import (
	"context"
	"net"
	"sync"
	"testing"
)

// Listen listens at an address of the loopback interface until the end of the test.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Pair returns the two ends of a connection. The end of the test closes both.
func Pair(t testing.TB) (accepted, dialed *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server.(*net.TCPConn), client.(*net.TCPConn)
}

// ClosedAddress returns an address at which no process listens until the end of the test: that of the client of a
// connection.
func ClosedAddress(t testing.TB) string {
	t.Helper()
	_, client := Pair(t)
	return client.LocalAddr().String()
}

// ServeConns calls serve for each connection, in a goroutine of its own, and returns the address. The connection ends
// with serve or with the test, which waits for it.
func ServeConns(t testing.TB, serve func(*net.TCPConn)) (address string) {
	t.Helper()
	l := Listen(t)
	var running sync.WaitGroup
	ctx, end := context.WithCancel(context.Background())
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer c.Close()
				defer context.AfterFunc(ctx, func() { c.Close() })()
				serve(c.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		end()
		running.Wait()
	})
	return l.Addr().String()
}
