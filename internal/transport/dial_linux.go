package transport

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probeInterval is the interval between TCP's probes after one without a response, as in
// package net.
const probeInterval = 15 * time.Second

// Dial implements Driver. It must be called in a task. It returns the errors of
// [net.Dialer]. A host name is resolved, and connected to, in a goroutine.
func (l *Loop) Dial(ctx context.Context, addr string) (Conn, error) {
	if path, ok := strings.CutPrefix(addr, UnixPrefix); ok {
		return l.dialUnix(ctx, path)
	}
	remote, err := netip.ParseAddrPort(addr)
	if err != nil || remote.Addr().Zone() != "" {
		return l.dialName(ctx, addr)
	}
	remote = netip.AddrPortFrom(remote.Addr().Unmap(), remote.Port())
	var c *LoopConn
	for range 3 {
		if c, err = l.connect(ctx, remote); err != errSelf {
			break
		}
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(remote), Err: err}
	}
	return c, nil
}

func (l *Loop) dialName(ctx context.Context, addr string) (c Conn, err error) {
	l.Block(func() { c, err = Goroutines.Dial(ctx, addr) })
	if err != nil {
		return nil, err
	}
	attached, err := l.Attach(c.(*NetConn))
	if err != nil {
		c.Close()
		return nil, err
	}
	return attached, nil
}

// dialUnix connects to a Unix socket, which the kernel does immediately or not at all.
func (l *Loop) dialUnix(ctx context.Context, path string) (Conn, error) {
	c, err := l.connectUnix(ctx, path)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "unix", Addr: &net.UnixAddr{Name: path, Net: "unix"}, Err: err}
	}
	return c, nil
}

func (l *Loop) connectUnix(ctx context.Context, path string) (*LoopConn, error) {
	if ctx.Err() != nil {
		return nil, contextError(ctx)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return l.Add(fd, netip.AddrPort{})
}

// errSelf means that a connection to a local port without a listener is connected to
// itself, because the kernel selected the same port for both ends.
var errSelf error = os.NewSyscallError("connect", unix.ECONNREFUSED)

func (l *Loop) connect(ctx context.Context, remote netip.AddrPort) (*LoopConn, error) {
	if ctx.Err() != nil {
		return nil, contextError(ctx)
	}
	address, family := socketAddress(remote)
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	setOptions(fd, keepAlive)
	if err := unix.Connect(fd, address); err != nil && err != unix.EINPROGRESS && err != unix.EINTR {
		unix.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	c, err := l.Add(fd, remote)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.SetWriteDeadline(Past) })
	err = c.connected()
	if !stop() { // it may set the deadline later
		err = contextError(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// connected waits until the socket is connected.
func (c *LoopConn) connected() error {
	c.mayWrite = false
	for !c.mayWrite {
		if err := c.writeError(); err != nil {
			return err
		}
		c.waitToWrite()
	}
	if err := c.writeError(); err != nil {
		return err
	}
	errno, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if errno != 0 {
		return os.NewSyscallError("connect", syscall.Errno(errno))
	}
	if local, err := unix.Getsockname(int(c.fd)); err == nil && addrPort(local) == c.remote {
		return errSelf
	}
	return nil
}

// contextError returns the error of a dial whose context is done.
func contextError(ctx context.Context) error {
	if ctx.Err() == context.DeadlineExceeded {
		return os.ErrDeadlineExceeded
	}
	return ctx.Err()
}

// setOptions sets the options that package net sets for connections. An error does not
// matter, as there.
func setOptions(fd int, idle time.Duration) {
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, int(idle/time.Second))
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, int(probeInterval/time.Second))
}

func socketAddress(a netip.AddrPort) (address unix.Sockaddr, family int) {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}, unix.AF_INET
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}, unix.AF_INET6
}

// addrPort converts the address of a TCP socket. An IPv4 address in a socket of both
// families becomes a plain one.
func addrPort(a unix.Sockaddr) netip.AddrPort {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		ip := netip.AddrFrom16(a.Addr).Unmap()
		if a.ZoneId != 0 {
			ip = ip.WithZone(zoneName(int(a.ZoneId)))
		}
		return netip.AddrPortFrom(ip, uint16(a.Port))
	}
	return netip.AddrPort{}
}

// zoneName returns the name of an IPv6 zone, as package net does.
func zoneName(index int) string {
	if i, err := net.InterfaceByIndex(index); err == nil {
		return i.Name
	}
	return strconv.Itoa(index)
}
