package front

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// An acceptor accepts connections and goes on when it cannot: when as many
// files are open as may be, it gives up one that it has kept for that, so that
// who comes next can be told, or served.
type acceptor struct {
	*net.TCPListener
	keep int         // how many files it keeps
	free func() bool // closes a file that is not in use, if there is one

	mu     sync.Mutex // guards what follows
	spare  []*os.File
	closed bool
}

// acceptPause is how long an acceptor waits that could not accept.
const acceptPause = 10 * time.Millisecond

func newAcceptor(l *net.TCPListener, keep int, free func() bool) *acceptor {
	a := &acceptor{TCPListener: l, keep: keep, free: free}
	a.refill()
	return a
}

// accept returns the next connection. scarce tells that it took the place of a
// spare file, and there is none in its stead.
func (a *acceptor) accept() (nc *net.TCPConn, scarce bool, err error) {
	for {
		nc, err = a.TCPListener.AcceptTCP()
		switch {
		case err == nil:
			return nc, !a.refill() && !(a.free() && a.refill()), nil
		case isOver(err):
			return nil, false, err
		case noFile(err) && (a.lend() || a.free()):
		default:
			time.Sleep(acceptPause)
		}
	}
}

// isOver tells of the errors behind which there will be no connection. Others
// are a connection's own, which accept(2) reports of one that has failed
// already, or want of something that may be there again.
func isOver(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSOCK)
}

// noFile tells of the errors of a process, or a machine, that has as many files
// open as it may.
func noFile(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// lend gives up a spare file, if there is one.
func (a *acceptor) lend() bool {
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

// refill tells whether all the spare files are there again.
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

// close closes the listener, and the spare files.
func (a *acceptor) close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	for a.lend() {
	}
	return a.TCPListener.Close()
}
