// Package failure classifies the errors of connections and requests, and counts them.
package failure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// A Kind is the reason why a request or a connection failed. The names of kinds are the
// keys of a Result's Errors.
type Kind uint8

// The kinds.
const (
	Refused     Kind = iota // no process listens
	Unreached               // another reason why the connection could not be made or used
	NoPort                  // this machine has no port or file left
	Handshake               // the TLS handshake failed
	Reset                   // the connection was reset
	EOF                     // the connection was closed before the end of the response
	Timeout                 // the response, or the connection, took longer than Timeout
	BadResponse             // the response is not HTTP
	BadRequest              // the request could not be made or sent
	Unexpected              // the response is whole, and not the one that the plan expects
	kinds
)

func (k Kind) String() string { return kindNames[k] }

var kindNames = [kinds]string{"refused", "unreachable", "no_port", "tls", "reset", "eof", "timeout",
	"bad_answer", "bad_request", "unexpected"}

// A kindError is an error with its kind.
type kindError struct {
	kind Kind
	error
}

func (e *kindError) Unwrap() error { return e.error }

// New returns err with a kind, which OfConnection and OfExchange return.
func New(k Kind, err error) error { return &kindError{k, err} }

// OfConnection classifies an error of opening a connection.
func OfConnection(err error) Kind {
	if known, ok := errors.AsType[*kindError](err); ok {
		return known.kind
	}
	var timed net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return NoPort
	case errors.Is(err, syscall.ETIMEDOUT), errors.As(err, &timed) && timed.Timeout():
		return Timeout
	case errors.Is(err, syscall.ECONNRESET):
		return Reset
	}
	return Unreached
}

// OfExchange classifies an error of sending a request or reading its response.
func OfExchange(err error) Kind {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return Timeout
	}
	if known, ok := errors.AsType[*kindError](err); ok {
		return known.kind
	}
	switch {
	case errors.Is(err, syscall.ETIMEDOUT):
		return Timeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return EOF
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return Reset
	case errors.As(err, new(syscall.Errno)): // no route, no memory
		return Unreached
	}
	return BadResponse
}

// The errors of requests whose response is late or wrong, and of requests whose connection ended
// before it.
var (
	ErrTimeout = fmt.Errorf("no whole response in time: %w", os.ErrDeadlineExceeded)
	ErrWrong   = errors.New("the response is not as expected")
	ErrClosed  = fmt.Errorf("the server closed the connection before the response: %w", io.ErrUnexpectedEOF)
)

// ClosedEarly returns the error of a request whose connection ended before its response.
// err is the parser's error.
func ClosedEarly(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return ErrClosed
	}
	return err
}
