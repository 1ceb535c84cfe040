package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"syscall"
	"time"
)

// A kind is the reason why a request or a connection failed. The names of kinds are the
// keys of a Result's Errors.
type kind uint8

const (
	refused    kind = iota // no process listens
	unreached              // another reason why the connection could not be made or used
	noPort                 // this machine has no port or file left
	handshake              // the TLS handshake failed
	reset                  // the connection was reset
	eof                    // the connection was closed before the end of the answer
	timeout                // the answer, or the connection, took longer than Timeout
	badAnswer              // the answer is not HTTP
	badRequest             // the request could not be made or sent
	kinds
)

var kindNames = [kinds]string{"refused", "unreachable", "no_port", "tls", "reset", "eof", "timeout",
	"bad_answer", "bad_request"}

// connectKind classifies an error of connecting.
func connectKind(err error) kind {
	var timed net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return refused
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return noPort
	case errors.Is(err, syscall.ETIMEDOUT), errors.As(err, &timed) && timed.Timeout():
		return timeout
	case errors.Is(err, syscall.ECONNRESET):
		return reset
	}
	return unreached
}

// exchangeKind classifies an error of sending a request or reading its answer.
func exchangeKind(err error) kind {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return timeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return eof
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return reset
	case errors.As(err, new(syscall.Errno)): // no route, no memory
		return unreached
	}
	return badAnswer
}

// failures counts failures by kind and keeps the first error of each kind.
type failures struct {
	counts   [kinds]int64
	errs     [kinds]error
	examples [kinds]string // texts of errs
}

func (f *failures) add(k kind, err error) {
	if f.counts[k]++; f.counts[k] == 1 {
		f.errs[k], f.examples[k] = err, err.Error()
	}
}

func (f *failures) merge(g *failures) {
	for k := range kinds {
		f.counts[k] += g.counts[k]
		if f.errs[k] == nil {
			f.errs[k], f.examples[k] = g.errs[k], g.examples[k]
		}
	}
}

func (f *failures) sum() (n int64) {
	for _, c := range f.counts {
		n += c
	}
	return n
}

// certificateRefused reports whether an error is an alert of TLS by which servers
// refuse a client without a certificate, or with another one than they trust (RFC 8446,
// section 6.2). Before TLS 1.3 it is also handshake_failure. crypto/tls returns an alert
// as a uint8 of a type that it does not export.
func certificateRefused(err error) bool {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return false
	}
	v := reflect.ValueOf(op.Err)
	if v.Kind() != reflect.Uint8 {
		return false
	}
	switch v.Uint() {
	case 40, 42, 43, 44, 45, 46, 48, 49, 116: // handshake_failure, bad_certificate to access_denied, certificate_required
		return true
	}
	return false
}

// maps returns the counts and the examples by name of the kind.
func (f *failures) maps() (counts map[string]int64, examples map[string]string) {
	counts, examples = make(map[string]int64), make(map[string]string)
	for k, n := range f.counts {
		if n > 0 {
			counts[kindNames[k]], examples[kindNames[k]] = n, f.examples[k]
		}
	}
	return counts, examples
}

var (
	errTimeout = fmt.Errorf("no whole answer in time: %w", os.ErrDeadlineExceeded)
	errGone    = errors.New("the connection was closed before the request was sent")
	errRefused = errors.New("the server refused the stream")
	errUnasked = errors.New("bytes that no request has asked for")
	errClosed  = fmt.Errorf("the server closed the connection before the answer: %w", io.ErrUnexpectedEOF)
)

// closedEarly returns the error of a request whose connection ended before its answer.
// err is the parser's error.
func closedEarly(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errClosed
	}
	return err
}

// backoff returns how long to wait before reconnecting after consecutive failures.
func backoff(failures int) time.Duration {
	return min(time.Millisecond<<min(failures, 7), 100*time.Millisecond)
}

// openKind classifies an error of opening a line.
func openKind(err error) kind {
	if k, ok := errors.AsType[*kindError](err); ok {
		return k.kind
	}
	return connectKind(err)
}

// failKind classifies an error of an exchange.
func failKind(err error) kind {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return timeout
	}
	if k, ok := errors.AsType[*kindError](err); ok {
		return k.kind
	}
	return exchangeKind(err)
}

// A kindError is an error with its kind.
type kindError struct {
	kind kind
	err  error
}

func (e *kindError) Error() string { return e.err.Error() }
func (e *kindError) Unwrap() error { return e.err }

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
