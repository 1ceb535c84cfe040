package front

import (
	"net/netip"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/networks"
	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/proxyproto"
	"github.com/weirhq/weir/log"
)

// A headerState says whether a connection begins with a header of the PROXY protocol.
type headerState uint8

const (
	headerDone     headerState = iota // it has been read, or the configuration has no rule
	headerRefused                     // the source may not send one
	headerOptional                    // a trusted source may send one
	headerRequired                    // a trusted source must send one
)

// A headerRule is the rule of proxy_protocol. Connections may share it.
type headerRule struct {
	from     networks.Set
	required bool
}

// newHeaderRule returns the rule of a configuration, or nil if it has none.
func newHeaderRule(c *config.ProxyProtocol) *headerRule {
	if c == nil {
		return nil
	}
	return &headerRule{networks.New(c.From), c.Required}
}

// of returns the state of a new connection from an address.
func (r *headerRule) of(source netip.Addr) headerState {
	switch {
	case !r.from.Contains(source):
		return headerRefused
	case r.required:
		return headerRequired
	}
	return headerOptional
}

// trusted reports whether the source is trusted to name its client, and has not done so yet.
func (s headerState) trusted() bool { return s >= headerOptional }

// A headerRefusal is the reason why a connection is closed because of its header. It is the
// value of a metric's label.
type headerRefusal string

const (
	headerUntrusted headerRefusal = "untrusted" // from a source that may not send one
	headerAbsent    headerRefusal = "absent"
	headerMalformed headerRefusal = "malformed"
	headerSlow      headerRefusal = "timeout"
)

// manyConnections is the refusal of a client that has as many connections as it may, if a
// header names it. Others are rejected when their connection is accepted.
var manyConnections = &http1.Error{Status: 503, Reason: "the client has too many connections"}

// readHeader examines the bytes that have arrived at the beginning of a connection whose
// state is not headerDone. passed reports that a request, or more bytes of it, can follow.
// Otherwise the result is that of [clientConn.next].
func (c *clientConn) readHeader() (passed bool, s step, err *http1.Error) {
	in := c.in
	h, n, failure := proxyproto.Parse(in.unread())
	client := netip.AddrPortFrom(c.peer, c.port)
	switch {
	case failure == nil && n == 0:
		return false, incomplete, nil
	case failure == proxyproto.ErrAbsent && c.header == headerRequired:
		c.refuseHeader(headerAbsent, failure)
		return false, refusedHeader, nil
	case failure == proxyproto.ErrAbsent:
	case !c.header.trusted():
		c.refuseHeader(headerUntrusted, nil)
		return false, refusedHeader, nil
	case failure != nil:
		c.refuseHeader(headerMalformed, failure)
		return false, refusedHeader, nil
	case h.Source.IsValid():
		client = h.Source
	}
	in.r += n
	if in.endHead(); in.w == 0 {
		in.release()
		c.in = nil
	}
	if c.server.conns.identify(c, client) {
		return true, 0, nil
	}
	if c.awaitsHandshake() {
		c.server.rejector.note(limitPerClient)
		return false, refusedHeader, nil
	}
	return false, badHead, manyConnections
}

// refuseHeader counts and logs a connection that is closed because of its header. The client
// gets no response: it may use any protocol.
func (c *clientConn) refuseHeader(why headerRefusal, err error) {
	d := c.server.door
	d.metrics.headers.WithLabelValues(string(why)).Inc()
	d.logger().Warn(eventHeaderRefused).HTTP(&log.HTTP{Client: c.peer.String()}).Str("refused", string(why)).
		Err(err).Send()
}

// eventHeaderRefused is the event of a connection that is closed because of its header.
const eventHeaderRefused = "proxy protocol refused"
