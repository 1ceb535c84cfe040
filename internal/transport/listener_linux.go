package transport

import (
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// acceptedKeepAlive is the idle time before TCP's probes on accepted connections, as in
// package net.
const acceptedKeepAlive = 15 * time.Second

// A rawListener accepts connections for loops: they are not registered with the poller of
// package net.
type rawListener struct {
	tcp  *net.TCPListener
	file *os.File // a duplicate; the RawConn of tcp cannot wait
	raw  syscall.RawConn
}

// NewRawListener returns a Listener for loops, and owns l. If it fails, l is unchanged.
func NewRawListener(l *net.TCPListener) (Listener, error) {
	file, err := l.File()
	if err != nil {
		return nil, err
	}
	raw, err := file.SyscallConn()
	if err == nil {
		// Accepted connections inherit the options of their listener.
		err = raw.Control(func(fd uintptr) { setOptions(int(fd), acceptedKeepAlive) })
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &rawListener{tcp: l, file: file, raw: raw}, nil
}

func (l *rawListener) TCP() *net.TCPListener { return l.tcp }

func (l *rawListener) Accept() (Accepted, error) {
	var fd int
	var address unix.Sockaddr
	var acceptErr error
	err := l.raw.Read(func(s uintptr) (done bool) {
		for {
			fd, address, acceptErr = unix.Accept4(int(s), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if acceptErr != unix.EINTR && acceptErr != unix.ECONNABORTED {
				return acceptErr != unix.EAGAIN
			}
		}
	})
	switch {
	case err == os.ErrDeadlineExceeded:
	case err != nil: // of package os, for a closed file
		err = net.ErrClosed
	case acceptErr != nil:
		err = os.NewSyscallError("accept4", acceptErr)
	default:
		return descriptor{fd, addrPort(address)}, nil
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.tcp.Addr(), Err: err}
}

func (l *rawListener) SetDeadline(t time.Time) error {
	if err := l.tcp.SetDeadline(t); err != nil {
		return err
	}
	return l.file.SetDeadline(t)
}

func (l *rawListener) Close() error {
	err := l.tcp.Close()
	l.file.Close()
	return err
}

// A descriptor is an accepted socket that does not block.
type descriptor struct {
	fd     int
	remote netip.AddrPort
}

func (d descriptor) Remote() netip.AddrPort { return d.remote }

func (d descriptor) NetConn() (*NetConn, error) { return newNetConn(d.fd, d.remote) }

func (d descriptor) Refuse(response []byte) {
	sendRaw(d.fd, response, 0)
	unix.Shutdown(d.fd, unix.SHUT_WR)
	unix.Close(d.fd)
}

// Adopt moves an accepted connection onto the loop. If it fails, the connection is closed.
// It must be called on the loop.
func (l *Loop) Adopt(a Accepted) (*LoopConn, error) {
	if d, ok := a.(descriptor); ok {
		return l.Add(d.fd, d.remote)
	}
	nc, err := a.NetConn()
	if err != nil {
		return nil, err
	}
	c, err := l.Attach(nc)
	if err != nil {
		nc.Close()
	}
	return c, err
}
