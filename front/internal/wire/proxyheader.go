package wire

import "net/netip"

// A headerState says whether a connection begins with a header of the PROXY protocol.
type headerState uint8

const (
	headerDone     headerState = iota // it has been read, or the configuration has no rule
	headerRefused                     // the source may not send one
	headerOptional                    // a trusted source may send one
	headerRequired                    // a trusted source must send one
)

// A ProxyHeaderRule is the rule about headers of the PROXY protocol. Connections may share it.
type ProxyHeaderRule struct {
	From     func(source netip.Addr) bool // reports whether a source may send one
	Required bool                         // such a source must send one
}

// of returns the state of a new connection from an address.
func (r *ProxyHeaderRule) of(source netip.Addr) headerState {
	switch {
	case !r.From(source):
		return headerRefused
	case r.Required:
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
