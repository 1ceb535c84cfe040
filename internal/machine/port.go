package machine

import (
	"fmt"
	"strings"
)

// A PortUse describes the use of a TCP port on this machine.
type PortUse uint8

// The uses of a port. A port with several has the last one of them.
const (
	PortUnlisted  PortUse = iota // not listed by the system
	PortTimeWait                 // only closed connections, for at most a minute
	PortConnected                // an open connection
	PortListening                // a listener
)

// UseOfPort returns the use of a port, from proc/net below root.
func UseOfPort(root string, port int) PortUse {
	use := PortUnlisted
	var unreadable []error // an unreadable table has no entries
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

// useOfState converts the Linux kernel's number of a TCP state.
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
