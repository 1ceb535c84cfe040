package load

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/send"
)

// server returns the address to connect to: the plan's socket, or an address of its origin.
func (p *Plan) server(ctx context.Context, origin string) (string, error) {
	if p.Unix != "" {
		return send.UnixAddress(p.Unix), nil
	}
	return resolve(ctx, origin, p.Timeout)
}

// resolve returns the IP address and port to connect to. Of several addresses it
// returns one that accepts a connection; a silent one takes a part of the timeout.
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
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", &UnreachableError{Kind: failure.OfConnection(err).String(), Server: address, Reason: err.Error(), Err: err}
	}
	defer c.Close()
	return c.RemoteAddr().String(), nil
}

// An UnreachableError reports that no connection to the server could be made, so
// that nothing was sent.
type UnreachableError struct {
	Kind   string // a key of a Result's Errors
	Server string // host and port
	Reason string
	Err    error // cause of the first failure

	CertificateRefused bool // as in a Result
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("load: no connection to %s can be made: %s", e.Server, e.Reason)
}

func (e *UnreachableError) Unwrap() error { return e.Err }
