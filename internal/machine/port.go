package machine

import (
	"fmt"
	"strings"
)

// A PortUse says which sockets of this machine have a TCP port.
type PortUse uint8

// The uses of a port, each of which comes before those that follow it.
const (
	PortUnlisted  PortUse = iota // none that the system lists
	PortTimeWait                 // only connections that have ended, for a minute at most
	PortConnected                // an open connection
	PortListening                // a listener
)

// UseOfPort returns how a port is used, as proc/net below root says.
func UseOfPort(root string, port int) PortUse {
	use := PortUnlisted
	var unreadable []error // the system does not say
	for _, table := range []string{"proc/net/tcp", "proc/net/tcp6"} {
		for line := range strings.Lines(string(read(root, table, &unreadable))) {
			fields := strings.Fields(line)
			if len(fields) > 3 && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
				use = max(use, useOfState(fields[3]))
			}
		}
	}
	return use
}

// useOfState reads a state of TCP as the Linux kernel numbers it.
func useOfState(state string) PortUse {
	switch state {
	case "0A":
		return PortListening
	case "06":
		return PortTimeWait
	default:
		return PortConnected
	}
}
