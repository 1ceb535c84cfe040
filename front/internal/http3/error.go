package http3

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/quic-go/quic-go"
)

// commonError returns the error of a handshake as crypto/tls and package net would have it.
func commonError(err error) error {
	var timeout net.Error
	var failure *quic.TransportError
	var closed *quic.ApplicationError
	switch {
	case errors.As(err, &failure) && failure.Remote:
		return &net.OpError{Op: "remote error", Err: err}
	case errors.As(err, &failure):
		return cause(failure)
	case errors.As(err, &timeout) && timeout.Timeout():
		return os.ErrDeadlineExceeded
	case errors.As(err, &closed), errors.Is(err, context.Canceled):
		return net.ErrClosed
	}
	return err
}

// cause returns the error of crypto/tls in an error of QUIC, which is also a net.ErrClosed.
func cause(failure *quic.TransportError) error {
	for _, err := range failure.Unwrap() {
		if err != nil && err != net.ErrClosed {
			return err
		}
	}
	return errors.New(failure.Error())
}
