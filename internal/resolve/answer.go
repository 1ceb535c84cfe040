package resolve

import (
	"errors"
	"net/netip"
	"time"
)

// ErrNotFound is wrapped by the error for a name that does not exist, or that has no record of
// the type.
var ErrNotFound = errors.New("not found")

// An Answer is the records of a name.
type Answer struct {
	Addrs    []netip.Addr // sorted, each once
	Services []Service    // sorted, each once

	// TTL is how long the answer is valid. With [ErrNotFound] it is how long the name stays
	// unknown, or 0 if the name server does not say.
	TTL time.Duration

	// Incomplete is the error of one of the two queries, for addresses of IPv4 and of IPv6.
	// Addrs lacks the addresses of that family: IPv4 with LacksIPv4, or else IPv6.
	Incomplete error
	LacksIPv4  bool
}

// A Service is an SRV record, RFC 2782.
type Service struct {
	Target           string // a complete name, without the dot at its end
	Port             uint16
	Priority, Weight uint16
}
