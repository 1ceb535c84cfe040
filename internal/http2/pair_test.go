package http2_test

import (
	"net"
	"testing"

	"github.com/weirhq/weir/internal/transport"
)

// netPair returns both ends of a connection.
func netPair(t *testing.T) (server *transport.NetConn, client *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if server, err = transport.NewConn(accepted.(*net.TCPConn)); err != nil {
		t.Fatal(err)
	}
	return server, conn.(*net.TCPConn)
}
