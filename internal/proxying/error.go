package proxying

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/proxying/internal/pool"
	"github.com/weirhq/weir/internal/proxying/internal/response"
)

// A Kind classifies the failure of an exchange. It is also the value of a
// metric's label.
type Kind string

// The first group is caused by the upstream, the second by the client, the
// third by this process.
const (
	Refused        Kind = "refused"         // no process listens at the address
	Connect        Kind = "connect"         // the connection failed for another reason
	ConnectTimeout Kind = "connect_timeout" // connecting, with the handshake of TLS, took too long
	BadTLS         Kind = "tls"             // TLS failed, for example because of a certificate
	Reset          Kind = "reset"           // the connection was reset before the response was complete
	Closed         Kind = "closed"          // the connection was closed before a response began
	Truncated      Kind = "truncated"       // the connection was closed before the response was complete
	Timeout        Kind = "timeout"         // silent for too long
	BadResponse    Kind = "bad_answer"      // not a valid HTTP response

	Overdue Kind = "overdue" // Exchange.Deadline has passed, because of the upstream or the client

	ClientGone Kind = "client_gone" // disconnected before the body or the response was complete
	ClientBody Kind = "client_body" // the body is malformed
	BadRequest Kind = "bad_request" // the request cannot be forwarded

	// The process has no free file or connection.
	NoFile       Kind = "no_file"              // the process or the machine has reached its limit of open files
	QueueFull    Kind = "queue_full"           // no place at a server, and too many exchanges wait for one
	QueueTimeout Kind = "queue_timeout"        // no place at a server for the whole waiting time
	TooManyConns Kind = "too_many_connections" // all connections that Conns allows are in use

	// NoHijack: the server has switched protocols, but Client.Tunnel failed.
	NoHijack Kind = "no_hijack"

	// The reader of a body or the Client returns these two, in an *Error that
	// is passed on unchanged. The reader of a body may also return an
	// *http.MaxBytesError, or an error that wraps os.ErrDeadlineExceeded. This
	// package sets no such limits, except for a client whose body is not complete
	// at Exchange.Deadline.
	ClientSlow Kind = "client_slow" // sends or reads bytes below its minimum speed
	TooLarge   Kind = "too_large"   // the body exceeds its limit
)

// ErrOverdue is wrapped by the error of an exchange that was not over at its Deadline.
var ErrOverdue = errors.New("the time of the whole exchange is over")

// An Error is the failure of an exchange. It names the server and the step.
type Error struct {
	Kind   Kind
	Server string // the server's address; empty if no connection was attempted
	Step   string // as in "dialling", "sending the request"
	Err    error
}

// A Failure is a failure of a server.
type Failure struct {
	At  time.Time
	Err *Error
}

func (e *Error) Error() string {
	if e.Server == "" {
		return fmt.Sprintf("%s: %v", e.Step, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.Server, e.Step, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// ByClient reports whether the client caused the error.
func (e *Error) ByClient() bool {
	switch e.Kind {
	case ClientGone, ClientBody, BadRequest, ClientSlow, TooLarge:
		return true
	}
	return false
}

// ByUpstream reports whether a server of the upstream caused the error. A lack
// of resources in this process is caused by neither side, and so are a full queue, Overdue and NoHijack.
func (e *Error) ByUpstream() bool {
	switch e.Kind {
	case NoFile, TooManyConns, QueueFull, QueueTimeout, Overdue, NoHijack:
		return false
	}
	return !e.ByClient()
}

// by returns the *Error in err if there is one, or else a new one of the given
// kind.
func by(kind Kind, step string, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return &Error{Kind: kind, Step: step, Err: err}
}

// readingBody is the step of an error of the request's body.
const readingBody = "reading the request's body"

var (
	errShortBody = errors.New("the body is shorter than its Content-Length")
)

// disconnected reports whether an error of a client's connection or stream means
// that the client has closed or reset it.
func disconnected(err error) bool {
	for _, gone := range []error{
		io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, http2.ErrReset, http2.ErrClosed,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// connecting is the step of an error before the request was sent.
const connecting = "connecting"

// NotConnected reports whether no server accepted a connection.
func (e *Error) NotConnected() bool {
	return e.Kind == Refused || e.Kind == Connect || e.Kind == ConnectTimeout ||
		e.Kind == BadTLS && e.Step == connecting // later, it is an alert in place of a response
}

// Status returns the status of the response that the proxy sends for the error.
func (e *Error) Status() int {
	switch e.Kind {
	case Timeout, ConnectTimeout, Overdue:
		return 504
	case ClientBody, BadRequest:
		return 400
	case ClientSlow:
		return 408
	case TooLarge:
		return 413
	case NoFile, TooManyConns, QueueFull, QueueTimeout:
		return 503
	case ClientGone:
		return statusClientGone
	}
	return 502
}

// statusClientGone is the status that nginx logs for a client that disconnected
// before the response. It is never sent.
const statusClientGone = 499

// kindOf classifies an error of reading from or writing to an upstream.
func kindOf(err error) Kind {
	switch {
	case errors.Is(err, response.ErrMalformed):
		return BadResponse
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Timeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Closed
	case fromTLS(err):
		return BadTLS
	}
	return cmp.Or(streamKind(err), Reset)
}

// dialKind classifies an error of connecting to an upstream.
func dialKind(err error) Kind {
	var timeout net.Error
	var handshake *pool.HandshakeError
	switch {
	case pool.NoFile(err):
		return NoFile
	case err == pool.ErrTooMany:
		return TooManyConns
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT): // without the file of a Unix socket
		return Refused
	case errors.As(err, &timeout) && timeout.Timeout():
		return ConnectTimeout
	case errors.As(err, &handshake):
		return BadTLS
	}
	return Connect
}

// streamKind classifies an error of a stream. It returns "" for other errors.
func streamKind(err error) Kind {
	var wrong *http2.Error
	switch {
	case errors.As(err, &wrong):
		return BadResponse
	case errors.Is(err, http2.ErrClosed):
		return Closed
	case errors.Is(err, http2.ErrSilent):
		return Timeout
	}
	return ""
}
