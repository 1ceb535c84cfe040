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

// filesBeside are the files that a run needs beside its connections.
const filesBeside = 64

// A RoomError tells that the connections of a plan would not fit.
type RoomError struct {
	Connections int    // as many were asked for
	Fit         int    // as many would fit
	Of          string // "open files" or "local ports"
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("load: %d connections do not fit: there are %s for %d", e.Connections, e.Of, e.Fit)
}

// fit raises the limit of open files as far as it may be, and tells whether the
// connections fit into that and the machine's ports. A MaxConnections that was
// not set becomes what fits.
func (p *Plan) fit() error {
	room, of := roomForConnections()
	if room >= p.MaxConnections {
		return nil
	}
	if p.fitted && room >= p.Connections {
		p.MaxConnections = room
		return nil
	}
	return &RoomError{Connections: p.MaxConnections, Fit: room, Of: of}
}

// roomForConnections returns how many connections to one server are possible,
// and what bounds them.
func roomForConnections() (n int, of string) {
	n, of = 1<<31-1, "open files"
	if files, err := machine.RaiseOpenFiles(); err == nil {
		n = max(0, int(min(files, 1<<31-1))-machine.OpenFilesNow()-filesBeside)
	}
	if ports, ok := localPorts(); ok && ports < n {
		n, of = ports, "local ports"
	}
	return n, of
}

// localPorts is how many ports connections may go out from.
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

// resolve returns the address to connect to, an IP address and a port: of
// several, the first one that can be connected to.
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
	return "", &UnreachableError{Kind: kindNames[connectKind(failed[0])], Server: address, Reason: errors.Join(failed...).Error(), Err: failed[0]}
}
