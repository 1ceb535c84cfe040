package handshake

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// A Result is the result of a handshake. It is the value of a metric's label.
type Result string

// The results.
const (
	OK                Result = "ok"
	Resumed           Result = "resumed"            // ok, with a session ticket
	Timeout           Result = "timeout"            // the client took too long
	Closed            Result = "closed"             // the client has disconnected
	PlainHTTP         Result = "plain_http"         // a request without TLS
	NoCertificate     Result = "no_certificate"     // there is none for the name that the client asks for
	ClientCertificate Result = "client_certificate" // the client has none, or none that is accepted
	Rejected          Result = "rejected"           // the client has sent an alert, for example about the certificate
	Protocol          Result = "protocol"           // no common version or cipher suite, or a malformed message
	Refused           Result = "refused"            // too many handshakes wait
)

// Results are all results.
var Results = []Result{OK, Resumed, Timeout, Closed, PlainHTTP, NoCertificate, ClientCertificate, Rejected, Protocol,
	Refused}

// ResultOf returns the result of a handshake that ended with err.
func ResultOf(c *Client, err error) Result {
	var header tls.RecordHeaderError
	var verification *tls.CertificateVerificationError
	var operation *net.OpError
	switch {
	case err == nil && c.Resumed:
		return Resumed
	case err == nil:
		return OK
	case errors.Is(err, ErrBusy):
		return Refused
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Timeout
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Closed
	case errors.As(err, &header) && isRequest(header.RecordHeader[:]):
		return PlainHTTP
	case errors.As(err, &verification):
		return ClientCertificate
	case errors.As(err, &operation) && operation.Op == "remote error":
		return Rejected
	}
	// crypto/tls has no types for these errors.
	switch text := err.Error(); {
	case strings.Contains(text, "client didn't provide a certificate"):
		return ClientCertificate
	case strings.Contains(text, "no certificates configured"):
		return NoCertificate
	}
	return Protocol
}

// isRequest reports whether bytes look like the method of a request over HTTP, in upper case.
func isRequest(b []byte) bool {
	for i, c := range b {
		if c == ' ' && i >= 3 {
			return true
		}
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}
