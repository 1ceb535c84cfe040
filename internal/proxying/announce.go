package proxying

import (
	"context"
	"net/netip"

	"github.com/weirhq/weir/internal/proxyproto"
	"github.com/weirhq/weir/internal/transport"
)

// An announcer is a driver that begins each connection with a header of the PROXY protocol,
// before TLS and before HTTP.
type announcer struct {
	transport.Driver
	version int
	source  netip.AddrPort
}

// announce returns the driver for the connections of an exchange of a client. A connection is that
// of one client. It therefore serves one exchange: a pool for each client would seldom have an
// unused connection, and would keep many. The port of a client is known only if it is the peer.
func announce(d transport.Driver, version int, client netip.Addr, peer netip.AddrPort) announcer {
	if client == peer.Addr() {
		return announcer{d, version, peer}
	}
	return announcer{d, version, netip.AddrPortFrom(client, 0)}
}

// Dial implements transport.Driver.
func (a *announcer) Dial(ctx context.Context, addr string) (transport.Conn, error) {
	c, err := a.Driver.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	h := proxyproto.Header{Source: a.source, Destination: c.Remote()}
	if !h.Destination.IsValid() { // a Unix socket
		h.Destination = netip.AddrPortFrom(netip.IPv6Unspecified(), 0)
	}
	var buf [108]byte
	header := proxyproto.AppendBlock(buf[:0], h)
	if a.version == 1 {
		header = proxyproto.AppendLine(buf[:0], h)
	}
	if _, err := c.Write(header); err != nil { // a new socket takes it immediately
		c.Close()
		return nil, err
	}
	return c, nil
}
