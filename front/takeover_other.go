//go:build !linux

package front

import (
	"errors"
	"net"
)

// offerListener does nothing. The handover of listeners needs Linux.
func offerListener(*net.TCPListener, string, func()) (withdraw func(), err error) {
	return func() {}, nil
}

// takeListener finds no listener.
func takeListener(string) (*net.TCPListener, error) { return nil, errors.ErrUnsupported }
