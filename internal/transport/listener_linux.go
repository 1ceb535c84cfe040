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

// A Listener accepts connections for loops: they are not registered with the poller of
// package net. It waits in that poller itself, in a goroutine.
type Listener struct {
	tcp  *net.TCPListener
	file *os.File // a duplicate; the RawConn of tcp cannot wait
	raw  syscall.RawConn
}

// NewListener returns a listener that accepts the connections of l, and owns l. If it
// fails, l is unchanged.
func NewListener(l *net.TCPListener) (*Listener, error) {
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
	return &Listener{tcp: l, file: file, raw: raw}, nil
}

// TCP returns the listener that l uses.
func (l *Listener) TCP() *net.TCPListener { return l.tcp }

// AcceptRaw waits for the next connection and returns a descriptor for [Loop.Add]. Its
// errors are those of [net.TCPListener.AcceptTCP].
func (l *Listener) AcceptRaw() (fd int, remote netip.AddrPort, err error) {
	var address unix.Sockaddr
	var acceptErr error
	err = l.raw.Read(func(s uintptr) (done bool) {
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
		return fd, addrPort(address), nil
	}
	return -1, netip.AddrPort{}, &net.OpError{Op: "accept", Net: "tcp", Addr: l.tcp.Addr(), Err: err}
}

// SetDeadline sets the deadline of AcceptRaw and of the listener that l uses.
func (l *Listener) SetDeadline(t time.Time) error {
	if err := l.tcp.SetDeadline(t); err != nil {
		return err
	}
	return l.file.SetDeadline(t)
}

// Close closes the listener. AcceptRaw fails with net.ErrClosed.
func (l *Listener) Close() error {
	err := l.tcp.Close()
	l.file.Close()
	return err
}
