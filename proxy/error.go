package proxy

import (
	"errors"

	"github.com/weirhq/weir/internal/proxying"
)

// A Kind classifies the failure of a request. It is a word that suits the label of a metric, such
// as connect_timeout.
type Kind string

// The first group is caused by the upstream, the second by the client, the third by this process.
const (
	Refused        = Kind(proxying.Refused)        // no process listens at the address
	Connect        = Kind(proxying.Connect)        // the connection failed for another reason
	ConnectTimeout = Kind(proxying.ConnectTimeout) // connecting, with the handshake of TLS, took too long
	BadTLS         = Kind(proxying.BadTLS)         // TLS failed, for example because of a certificate
	Reset          = Kind(proxying.Reset)          // the connection was reset before the response was complete
	Closed         = Kind(proxying.Closed)         // the connection was closed before a response began
	Truncated      = Kind(proxying.Truncated)      // the connection was closed before the response was complete
	Timeout        = Kind(proxying.Timeout)        // silent for too long
	BadResponse    = Kind(proxying.BadResponse)    // not a valid HTTP response

	// Overdue: the deadline of the request's context has passed, because of the upstream or the
	// client.
	Overdue = Kind(proxying.Overdue)

	ClientGone = Kind(proxying.ClientGone) // disconnected before the body or the response was complete
	ClientBody = Kind(proxying.ClientBody) // the body is malformed
	ClientSlow = Kind(proxying.ClientSlow) // a deadline of its connection has passed while the body arrived
	TooLarge   = Kind(proxying.TooLarge)   // the body exceeds an http.MaxBytesReader
	BadRequest = Kind(proxying.BadRequest) // the request cannot be forwarded

	NoFile       = Kind(proxying.NoFile)       // the process or the machine has reached its limit of open files
	QueueFull    = Kind(proxying.QueueFull)    // no place at a server, and too many requests wait for one
	QueueTimeout = Kind(proxying.QueueTimeout) // no place at a server for the whole waiting time

	// NoHijack: the server has switched protocols, but the ResponseWriter does not give up its
	// connection. Middleware has replaced it by one without Hijack and Unwrap.
	NoHijack = Kind(proxying.NoHijack)
)

// An Error is the failure of a request. It names the server and the step.
type Error struct {
	Kind   Kind
	Server string // the server's address; empty if no connection was attempted
	Step   string // as in "connecting", "sending the request"
	Err    error
}

func (e *Error) Error() string { return e.inner().Error() }

func (e *Error) Unwrap() error { return e.Err }

// ByClient reports whether the client caused the error.
func (e *Error) ByClient() bool { return e.inner().ByClient() }

// ByUpstream reports whether a server of the upstream caused the error. A lack of resources in
// this process is caused by neither side, and so are a full queue, Overdue and NoHijack.
func (e *Error) ByUpstream() bool { return e.inner().ByUpstream() }

// Timeout reports whether the cause is that something took too long, as in [net.Error].
func (e *Error) Timeout() bool {
	switch e.Kind {
	case Timeout, ConnectTimeout, Overdue, ClientSlow, QueueTimeout:
		return true
	}
	return false
}

// Status returns the status of the response that [Proxy] sends for the error: 499 for a client that
// is gone, to which none is sent.
func (e *Error) Status() int { return e.inner().Status() }

func (e *Error) inner() *proxying.Error {
	return &proxying.Error{Kind: proxying.Kind(e.Kind), Server: e.Server, Step: e.Step, Err: e.Err}
}

// errorOf returns the error of an exchange as one of this package, or nil.
func errorOf(err error) error {
	var e *proxying.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Kind: Kind(e.Kind), Server: e.Server, Step: e.Step, Err: e.Err}
}
