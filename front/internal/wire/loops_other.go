//go:build !linux

package wire

import (
	"net"

	"github.com/weirhq/weir/internal/transport"
)

// Only Linux has loops; other systems use the engine of goroutines.

func newListener(l *net.TCPListener) (transport.Listener, error) {
	return transport.NewListener(l), nil
}

func newLoops(s *shared) (engine, error) { return goroutines{s}, nil }
