package transport

import (
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// Attach moves a connection onto the loop, without its deadlines. Afterwards c must not be
// used. If Attach fails, c is unchanged. It must be called on the loop.
func (l *Loop) Attach(c *NetConn) (*LoopConn, error) {
	fd, dupErr := -1, error(nil)
	if err := c.raw.Control(func(s uintptr) { fd, dupErr = duplicate(int(s)) }); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	attached, err := l.Add(fd, c.remote)
	if err != nil {
		return nil, err
	}
	c.Close() // the descriptor, not the connection
	return attached, nil
}

// Detach moves a connection off the loop, without its deadlines. Afterwards c must not be
// used. If Detach fails, c is unchanged. No operation may be in progress.
func (c *LoopConn) Detach() (*NetConn, error) {
	if c.closed.Load() {
		return nil, net.ErrClosed
	}
	fd, err := duplicate(int(c.fd))
	if err != nil {
		return nil, err
	}
	detached, err := newNetConn(fd, c.remote)
	if err != nil {
		return nil, err
	}
	// The registration belongs to the connection, and would last longer than the descriptor.
	unix.EpollCtl(c.loop.epoll, unix.EPOLL_CTL_DEL, int(c.fd), nil)
	c.Close()
	return detached, nil
}

func duplicate(fd int) (int, error) {
	d, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	return d, os.NewSyscallError("fcntl", err)
}

// newNetConn returns a connection for a descriptor, which it takes over.
func newNetConn(fd int, remote netip.AddrPort) (*NetConn, error) {
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	nc, err := net.FileConn(f) // which duplicates the descriptor
	if err != nil {
		return nil, err
	}
	c, err := newConn(nc.(socket), remote)
	if err != nil {
		nc.Close()
	}
	return c, err
}
