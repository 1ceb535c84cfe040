//go:build unix

package testkit

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// Descriptors returns the number of descriptors that a process has open. It needs /proc.
func Descriptors(t testing.TB, pid int) int {
	t.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	NoError(t, err)
	return len(names)
}

// LikeRemote gives a socket of TCP the segments and the window of one that leaves the machine. It is the Control of a
// [net.Dialer] or a [net.ListenConfig]. On loopback, the kernel would hold megabytes for a reader that does not read: the
// buffer of the receiver grows, and that of the sender is 40 segments long, which have 64 KiB each.
func LikeRemote(_, _ string, c syscall.RawConn) error {
	var err error
	failed := c.Control(func(fd uintptr) {
		err = errors.Join(syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 1400),
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10))
	})
	return errors.Join(failed, err)
}

// FillPipe fills a pipe until no byte fits, and returns the number of bytes. It writes whole pages, because a partial
// last page would have space left.
func FillPipe(t testing.TB, w *os.File) (written int64) {
	t.Helper()
	raw, err := w.SyscallConn()
	NoError(t, err)
	page := make([]byte, os.Getpagesize())
	var full error
	err = raw.Write(func(fd uintptr) bool {
		for full == nil {
			var n int
			n, full = syscall.Write(int(fd), page)
			written += int64(max(n, 0))
		}
		return true
	})
	if err != nil || !errors.Is(full, syscall.EAGAIN) {
		t.Fatalf("filling a pipe: %v, %v; want EAGAIN", err, full)
	}
	return written
}

// BoundSocket returns a socket with an address at which it does not listen yet. The end of the test closes it.
func BoundSocket(t testing.TB) (fd int, address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	NoError(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	local, err := syscall.Getsockname(fd)
	NoError(t, err)
	return fd, fmt.Sprintf("127.0.0.1:%d", local.(*syscall.SockaddrInet4).Port)
}

// SilentAddress returns an address that does not respond to a new connection, because the queue of its listener is full.
func SilentAddress(t testing.TB) string {
	t.Helper()
	fd, address := BoundSocket(t)
	NoError(t, syscall.Listen(fd, 0))
	for range 16 {
		c, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("needs a kernel that accepts no connection when the queue of a socket is full, as Linux does")
	return ""
}
