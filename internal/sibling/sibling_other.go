//go:build !linux

package sibling

import (
	"errors"
	"net"
	"os"
)

// Listen fails.
func Listen(string) (*net.UnixListener, error) { return nil, errors.ErrUnsupported }

// Dial fails.
func Dial(string) (*net.UnixConn, error) { return nil, errors.ErrUnsupported }

// Accept fails.
func Accept(*net.UnixListener) (*net.UnixConn, int, error) { return nil, 0, errors.ErrUnsupported }

// Send fails.
func Send(*net.UnixConn, []byte, []*os.File) error { return errors.ErrUnsupported }

// Receive fails.
func Receive(*net.UnixConn) ([]byte, []*os.File, error) { return nil, nil, errors.ErrUnsupported }
