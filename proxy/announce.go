package proxy

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

// announce prepares the header for the connections of an exchange. A connection is that of one
// client. It therefore serves one exchange: a pool for each client would seldom have an unused
// connection, and would keep many.
func (x *Exchange) announce(trust Trust, version int) {
	x.announced = announcer{x.driver(), version, netip.AddrPortFrom(trust.Client(x.Peer, x.Header), 0)}
	if x.announced.source.Addr() == x.Peer {
		x.announced.source = netip.AddrPortFrom(x.Peer, x.PeerPort)
	}
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
