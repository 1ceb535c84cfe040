package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/machine"
)

// filesBeside is the number of files that a run needs besides its connections.
const filesBeside = 64

// A RoomError reports that the machine has not enough files or ports for the
// connections of a plan.
type RoomError struct {
	Connections int    // of the plan
	Fit         int    // the most that are possible
	Of          string // "open files" or "local ports"
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("load: %d connections do not fit: there are %s for %d", e.Connections, e.Of, e.Fit)
}

// fit raises the limit of open files as far as possible, and returns a RoomError if the
// connections exceed it or the machine's ports. A MaxConnections that was not set is
// reduced.
func (p *Plan) fit() error {
	most, of := possibleConnections()
	if most >= p.MaxConnections {
		return nil
	}
	if p.fitted && most >= p.Connections {
		p.MaxConnections = most
		return nil
	}
	return &RoomError{Connections: p.MaxConnections, Fit: most, Of: of}
}

// possibleConnections returns how many connections to one server are possible, and the
// resource that limits them.
func possibleConnections() (n int, of string) {
	n, of = 1<<31-1, "open files"
	if files, err := machine.RaiseOpenFiles(); err == nil {
		n = max(0, int(min(files, 1<<31-1))-machine.OpenFilesNow()-filesBeside)
	}
	if ports, ok := localPorts(); ok && ports < n {
		n, of = ports, "local ports"
	}
	return n, of
}

// localPorts returns the number of ports for outgoing connections.
func localPorts() (int, bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, false
	}
	var low, high int
	if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &low, &high); err != nil || high < low {
		return 0, false
	}
	return high - low + 1, true
}

// resolve returns the IP address and port to connect to. Of several addresses it
// returns the first that accepts a connection.
func resolve(ctx context.Context, address string, timeout time.Duration) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("load: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", fmt.Errorf("load: %w", err)
	}
	if len(found) == 1 {
		return net.JoinHostPort(found[0].Unmap().String(), port), nil
	}
	var failed []error
	for _, ip := range found {
		candidate := net.JoinHostPort(ip.Unmap().String(), port)
		c, err := new(net.Dialer).DialContext(ctx, "tcp", candidate)
		if err == nil {
			c.Close()
			return candidate, nil
		}
		failed = append(failed, err)
	}
	return "", &UnreachableError{Kind: kindNames[connectKind(failed[0])], Server: address,
		Reason: errors.Join(failed...).Error(), Err: failed[0]}
}
