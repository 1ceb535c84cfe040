package http3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// An Error is the reason why this side has ended a connection or a stream.
type Error struct {
	Code   http3.ErrCode // sent to the client
	Reason Reason
	Detail string
	Status int // of the response; 0 if there is none
}

func (e *Error) Error() string { return fmt.Sprintf("http/3: %s: %s", e.Reason, e.Detail) }

// A Reason is the kind of an [Error], for metrics.
type Reason string

const (
	Protocol    Reason = "protocol"     // a violation of RFC 9114 without a kind of its own
	Malformed   Reason = "malformed"    // a head that is not valid, RFC 9114 section 4.1.2
	Expectation Reason = "expectation"  // an Expect other than 100-continue
	BodyLength  Reason = "body_length"  // a body that is longer or shorter than its content-length
	Trailers    Reason = "trailers"     // a trailer that is not valid
	Compression Reason = "compression"  // a header block that cannot be decoded
	HeaderList  Reason = "header_list"  // a header list that is too long
	Resets      Reason = "resets"       // too many streams that the client resets or has reset
	EmptyFrames Reason = "empty_frames" // too many DATA frames without data
	OtherFrames Reason = "other_frames" // too many unknown frames
	SlowHead    Reason = "slow_head"    // a head that does not become complete in time
)

// errFailed is the error of operations after [conn.fail].
var errFailed = fmt.Errorf("http/3: the connection has failed: %w", net.ErrClosed)

var errControl = errors.New("a frame that the control stream cannot have")

func malformed(detail string) *Error {
	return &Error{http3.ErrCodeMessageError, Malformed, detail, 400}
}

func flood(r Reason) *Error {
	return &Error{http3.ErrCodeExcessiveLoad, r, "too many frames of this kind", 0}
}

// commonStreamError returns the error of a read or a write of a stream as the proxy knows it: it wraps
// io.ErrUnexpectedEOF if the client has reset the stream, and net.ErrClosed if the connection has ended.
func commonStreamError(err error) error {
	var reset *quic.StreamError
	switch {
	case err == nil, err == io.EOF, errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case errors.As(err, &reset) && reset.Remote:
		return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	return fmt.Errorf("%w: %w", net.ErrClosed, err)
}

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
