package main

import (
	"net"
	"regexp"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestServeSaysWhyAnAddressIsInUse starts a door on a port that no listener has,
// but an outgoing connection of this machine: while it is open, and in the minute
// after.
func TestServeSaysWhyAnAddressIsInUse(t *testing.T) {
	t.Parallel()
	t.Run("TIME-WAIT", func(t *testing.T) {
		client, server := connect(t)
		client.Close() // the side that closes first keeps the port in TIME-WAIT
		server.Read(make([]byte, 1))
		server.Close()
		serveOn(t, client.LocalAddr().String(), `TIME-WAIT.*try again in a minute`)
	})
	t.Run("an open connection", func(t *testing.T) {
		client, server := connect(t)
		serveOn(t, client.LocalAddr().String(), `an outgoing connection has this port`)
		client.Close()
		server.Close()
	})
	t.Run("another process", func(t *testing.T) {
		l := testkit.Listen(t)
		serveOn(t, l.Addr().String(), `another process has this address`)
	})
}

// connect returns the two sides of a connection. The port of the client is not one that the
// connections of other tests get.
func connect(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l := testkit.Listen(t)
	from, err := net.ResolveTCPAddr("tcp", peer.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	client, err = (&net.Dialer{LocalAddr: from}).Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

// serveOn starts weir serve on an address in use and checks its hint.
func serveOn(t *testing.T, addr, hint string) {
	t.Helper()
	p := start(t, "serve", "--listen", addr, "--admin", "off")
	p.wait(1)
	if !regexp.MustCompile(`weir: hint: .*` + hint).MatchString(p.stderr.String()) {
		t.Errorf("stderr is\n%s\nwant the hint %s", p.stderr.String(), hint)
	}
}
