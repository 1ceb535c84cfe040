//go:build !linux

package transport

import (
	"errors"
	"net"
)

// IgnoreNew does nothing. It needs Linux.
func IgnoreNew(*net.TCPListener) error { return errors.ErrUnsupported }
