package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Kind says in one word what went wrong with an exchange. The words are
// values of the metric that counts them.
type Kind string

// The first group is the upstream's doing, the second the client's, the third
// nobody's but the process's own.
const (
	Refused        Kind = "refused"         // nobody listens
	Connect        Kind = "connect"         // the connection could not be made for another reason
	ConnectTimeout Kind = "connect_timeout" // the connection was not made in time
	Reset          Kind = "reset"           // the connection was reset before the answer was whole
	Closed         Kind = "closed"          // the connection was closed before an answer began
	Truncated      Kind = "truncated"       // the connection was closed before the answer was whole
	Timeout        Kind = "timeout"         // silent for too long
	BadAnswer      Kind = "bad_answer"      // what came is not an HTTP answer

	ClientGone Kind = "client_gone" // left, or was cut off, before the answer was whole
	ClientBody Kind = "client_body" // its body is malformed or broke off
	BadRequest Kind = "bad_request" // the request cannot be carried as it is

	// These are neither's: the process may open no more.
	NoFile       Kind = "no_file"              // the process, or the machine, has as many files open as it may
	TooManyConns Kind = "too_many_connections" // as many connections to servers are in use as Conns allows

	// These two are said by the reader of a body or the Client, in an *Error of
	// theirs that is handed on as it is: this package sets no such limits.
	ClientSlow Kind = "client_slow" // it sends or takes bytes more slowly than it may
	TooLarge   Kind = "too_large"   // its body is longer than it may be
)

// An Error is why an exchange failed. It names the upstream and the step.
type Error struct {
	Kind   Kind
	Server string // the server's address; empty when none was reached for
	Step   string // what was being done: "dialling", "sending the request", ...
	Err    error
}

func (e *Error) Error() string {
	if e.Server == "" {
		return fmt.Sprintf("%s: %v", e.Step, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.Server, e.Step, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// ByClient tells whether the client is the one at fault.
func (e *Error) ByClient() bool {
	switch e.Kind {
	case ClientGone, ClientBody, BadRequest, ClientSlow, TooLarge:
		return true
	}
	return false
}

// ByUpstream tells whether a server of the upstream is the one at fault. What
// the process itself runs short of is neither its fault nor the client's.
func (e *Error) ByUpstream() bool {
	return !e.ByClient() && e.Kind != NoFile && e.Kind != TooManyConns
}

// by returns the error of a reader or Client that knows its kind, or one of the
// given kind.
func by(kind Kind, step string, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return &Error{Kind: kind, Step: step, Err: err}
}

// status is what a client is answered when nothing was sent to it yet.
func (e *Error) status() int {
	switch e.Kind {
	case Timeout, ConnectTimeout:
		return 504
	case ClientBody, BadRequest:
		return 400
	case ClientSlow:
		return 408
	case TooLarge:
		return 413
	case NoFile, TooManyConns:
		return 503
	case ClientGone:
		return statusClientGone
	}
	return 502
}

// statusClientGone is what nginx logs for a client that left before it was
// answered. It is never sent.
const statusClientGone = 499

// errMalformed is in every error that says what is wrong with an answer.
var errMalformed = errors.New("malformed answer")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
}

// beginning returns what an error may quote of a line that is malformed: a word
// of it. What follows may be the value of a cookie or any part of a body, and
// errors are logged.
func beginning(line []byte) []byte {
	const most = 20
	n := 0
	for n < min(len(line), most) && (httpsyntax.IsToken(line[n:n+1]) || line[n] == '/') {
		n++
	}
	return line[:n]
}

// kindOf classifies an error of reading from or writing to an upstream.
func kindOf(err error) Kind {
	switch {
	case errors.Is(err, errMalformed):
		return BadAnswer
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Timeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Closed
	}
	return Reset
}

// dialKind classifies an error of connecting to an upstream.
func dialKind(err error) Kind {
	var timeout net.Error
	switch {
	case noFile(err):
		return NoFile
	case err == errTooMany:
		return TooManyConns
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.As(err, &timeout) && timeout.Timeout():
		return ConnectTimeout
	}
	return Connect
}

var errTooMany = errors.New("as many connections to servers are in use as may be")

// noFile tells of the errors of a process, or a machine, that has as many files
// open as it may.
func noFile(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
