package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/transport"
)

// An acceptor accepts connections, also when the process has as many open files as
// it may: it keeps spare files open and closes one of them, so that the next
// client can be served or rejected with a response.
type acceptor struct {
	transport.Listener
	keep int         // number of spare files
	free func() bool // closes an unused file of the process and reports whether there was one

	mu     sync.Mutex // guards the fields below
	spare  []*os.File
	closed bool
}

// acceptPause is the pause after a failed accept.
const acceptPause = 10 * time.Millisecond

func newAcceptor(l transport.Listener, keep int, free func() bool) *acceptor {
	a := &acceptor{Listener: l, keep: keep, free: free}
	a.refill()
	return a
}

// accept returns the next connection. usedSpare reports that the connection uses
// the descriptor of a spare file that could not be opened again.
func (a *acceptor) accept() (c transport.Accepted, usedSpare bool, err error) {
	for {
		c, err = a.Listener.Accept()
		switch {
		case err == nil:
			return c, !a.refill() && !(a.free() && a.refill()), nil
		case isPermanent(err):
			return nil, false, err
		case noFile(err) && (a.closeSpare() || a.free()):
		default:
			time.Sleep(acceptPause)
		}
	}
}

// Addr returns the address of the listener.
func (a *acceptor) Addr() net.Addr { return a.TCP().Addr() }

// isPermanent reports whether no more connections will follow. All other errors
// concern one connection, for which accept(2) reports an earlier failure, or a
// resource that may become available again.
func isPermanent(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSOCK)
}

// noFile reports whether the process, or the machine, has as many open files as
// it may.
func noFile(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// closeSpare closes a spare file and reports whether there was one.
func (a *acceptor) closeSpare() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.spare)
	if n == 0 {
		return false
	}
	a.spare[n-1].Close()
	a.spare = a.spare[:n-1]
	return true
}

// checkSpares returns the error of a machine on which spare files cannot be opened for another reason than a limit. An
// acceptor would reject all connections there.
func checkSpares() error {
	f, err := os.Open(os.DevNull)
	switch {
	case noFile(err):
		return nil
	case err != nil:
		return fmt.Errorf("spare files for the case that no file is left: %w", err)
	}
	return f.Close()
}

// refill opens the missing spare files and reports whether all are open.
func (a *acceptor) refill() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.closed && len(a.spare) < a.keep {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return false
		}
		a.spare = append(a.spare, f)
	}
	return true
}

// close closes the listener and the spare files.
func (a *acceptor) close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	for a.closeSpare() {
	}
	return a.Listener.Close()
}
